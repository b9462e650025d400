import { ItemError } from '../errors.ts';
import { inCall } from '../operators/fields.ts';

/** What a cell of a table holds: in Parquet as it is stored, in CSV as text. */
export type Cell = string | number | bigint | boolean | null | undefined;

/**
 * Makes the function that gives the text of a row, by which a receipt recognizes it: its values in
 * the order of their names, each as JSON. A name without a value counts as absent, so that the text
 * is the same wherever the row was stored.
 */
export function rowTexts(): (
  names: readonly string[],
  values: readonly unknown[],
  row: unknown,
) => string {
  let known: readonly string[] = [];
  let order: { readonly key: string; readonly at: number }[] = [];
  return (names, values, row) => {
    // Rows come with the same names again and again.
    if (
      names !== known &&
      (names.length !== known.length || names.some((name, at) => name !== known[at]))
    ) {
      order = names.map((name, at) => ({ key: `${JSON.stringify(name)}:`, at }));
      // A stable sort: of two columns with one name, the first one comes first.
      order.sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key));
    }

    known = names;
    let text = '';
    for (const { key, at } of order) {
      const value = values[at];
      const json =
        typeof value === 'bigint' ? String(value) : jsonOf(value ?? null, row, names[at] ?? null);
      if (json !== 'null') text += `${key}${json},`;
    }

    return text;
  };
}

/** The same for records, which have their own names. */
export function recordTexts(): (record: unknown) => string {
  const texts = rowTexts();
  return (record) => texts(Object.keys(Object(record)), Object.values(Object(record)), record);
}

/**
 * A column of an item has half of a surrogate pair, which would be another character in the file.
 */
export function halfPair(column: string, item: unknown, format: 'CSV' | 'Parquet'): ItemError {
  return new ItemError('unfit_value', {
    message: `column ${column}${inCall(item)} has half of a surrogate pair, which ${format} has no form for`,
    hint: `replace it first, as in mapCalls((row) => ({ ...row, ${column}: row.${column}.toWellFormed() })), or write JSON, which keeps it`,
  });
}

/** The JSON of an item, or of one of its columns. What JSON has no form for is refused. */
export function jsonOf(value: unknown, item: unknown, column: string | null): string {
  let cause: unknown;
  try {
    const json = JSON.stringify(value);
    if (json !== undefined) return json;
  } catch (error) {
    cause = error;
  }

  const words = {
    message: `${column === null ? 'an item' : `column ${column}`}${inCall(item)} has no form in JSON: it is or holds a bigint, refers to itself, or is nested too deep`,
    hint: 'leave it out, or replace it first with mapCalls()',
  };
  throw new ItemError('unfit_value', words, { cause });
}
