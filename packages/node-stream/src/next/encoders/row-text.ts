import { ItemError } from '../../errors.ts';
import { inCall } from '../accumulators/decimal.ts';

/** What a cell of a table holds: in Parquet as it is stored, in CSV as text. */
export type Cell = string | number | bigint | boolean | null | undefined;

/**
 * Makes the function that gives the text of a record, by which a receipt recognizes it: its fields in the order of their names,
 * each as JSON. A field without a value counts as absent, so that the text is the same wherever the record was stored.
 */
export function recordTexts(): (record: unknown) => string {
  let known: readonly string[] = [];
  let order: { readonly key: string; readonly at: number }[] = [];
  return (record) => {
    if (typeof record !== 'object' || record === null || Array.isArray(record))
      return jsonOf(record, record, null) ?? 'null';
    const names = Object.keys(record);
    // Records come with the same names again and again.
    if (names.length !== known.length || names.some((name, at) => name !== known[at])) {
      known = names;
      order = inOrder(names);
    }
    const values: readonly unknown[] = Object.values(record);
    let text = '';
    for (const { key, at } of order) {
      const value = jsonOf(values[at], record, known[at] ?? null);
      if (value !== undefined && value !== 'null') text += `${key}${value},`;
    }
    return text;
  };
}

/** Makes the function that gives the text of a row of a table with these columns: in the order of their names, without empty cells. */
export function cellTexts(titles: readonly string[]): (cells: readonly Cell[]) => string {
  const order = inOrder(titles);
  return (cells) => {
    let text = '';
    for (const { key, at } of order) {
      const cell = cells[at];
      if (cell !== null && cell !== undefined)
        text += `${key}${typeof cell === 'string' ? JSON.stringify(cell) : String(cell)},`;
    }
    return text;
  };
}

function inOrder(names: readonly string[]): { readonly key: string; readonly at: number }[] {
  const keys = names.map((name, at) => ({ key: `${JSON.stringify(name)}:`, at }));
  // A stable sort: of two columns with one name, the first one comes first.
  return keys.sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key));
}

/** A column of an item has half of a surrogate pair, which would be another character in the file. */
export function halfPair(column: string, item: unknown, format: 'CSV' | 'Parquet'): ItemError {
  return new ItemError(
    'unfit_value',
    `column ${column}${inCall(item)} has half of a surrogate pair, which ${format} has no form for; replace it first, as in mapCalls((row) => ({ ...row, ${column}: row.${column}.toWellFormed() })), or write JSON, which keeps it`,
  );
}

/** The JSON of an item, or of one of its columns. What JSON has no form for is refused with the name of the column. */
export function jsonOf(value: unknown, item: unknown, column: string | null): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const [name, held] = (column === null ? unfitColumn(value) : null) ?? [column, value];
    throw unfitJson(name, held, item, cause);
  }
}

/** The first column of an item that has no JSON; null when the item has no columns. */
function unfitColumn(item: unknown): [string, unknown] | null {
  const entries = typeof item === 'object' && item !== null ? Object.entries(item) : [];
  const isUnfit = ([, value]: [string, unknown]): boolean => {
    try {
      JSON.stringify(value);
      return false;
    } catch {
      return true;
    }
  };
  return entries.find(isUnfit) ?? null;
}

function unfitJson(column: string | null, held: unknown, item: unknown, cause: unknown): ItemError {
  const place = column === null ? 'an item' : `column ${column}${inCall(item)}`;
  let what = 'refers to itself or is nested too deep for JSON; leave it out';
  const form = 'which JSON has no form for; turn it into a string first';
  if (typeof held === 'bigint') {
    const whole = column === null ? 'String' : `(row) => ({ ...row, ${column}: String(row.${column}) })`;
    what = `is a bigint, ${form}: mapCalls(${whole})`;
  } else if (cause instanceof TypeError && cause.message.includes('BigInt'))
    what = `has a bigint in it, ${form}`;
  return new ItemError('unfit_value', `${place} ${what}`, { cause });
}
