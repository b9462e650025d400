import { ItemError } from '../errors.ts';
import { inCall } from '../operators/fields.ts';

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
  return new ItemError('unfit_value', {
    message: `column ${column}${inCall(item)} has half of a surrogate pair, which ${format} has no form for`,
    hint: `replace it first, as in mapCalls((row) => ({ ...row, ${column}: row.${column}.toWellFormed() })), or write JSON, which keeps it`,
  });
}

/** The JSON of an item, or of one of its columns. What JSON has no form for is refused with the name of the column. */
export function jsonOf(value: unknown, item: unknown, column: string | null): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const name = column ?? unfitColumn(value);
    const place = name === null ? 'an item' : `column ${name}${inCall(item)}`;
    const words = {
      message: `${place} has no form in JSON: it is or holds a bigint, refers to itself, or is nested too deep`,
      hint: `leave it out, or map it first, as in mapCalls(${name === null ? 'String' : `(row) => ({ ...row, ${name}: String(row.${name}) })`})`,
    };
    throw new ItemError('unfit_value', words, { cause });
  }
}

/** The first column of an item that has no JSON; null when the item has no columns. */
function unfitColumn(item: unknown): string | null {
  const isUnfit = (value: unknown): boolean => {
    try {
      JSON.stringify(value);
      return false;
    } catch {
      return true;
    }
  };
  const entries = typeof item === 'object' && item !== null ? Object.entries(item) : [];
  return entries.find(([, value]) => isUnfit(value))?.[0] ?? null;
}
