import { jsonOf } from './unfit.ts';

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
  return keys.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.at - b.at));
}
