import { createHash } from 'node:crypto';
import type { Cell } from '../fields.ts';
import { invalid } from '../text/failures.ts';

// Fits results into a budget of tokens.

/**
 * Estimates how many tokens a model reads for a string, erring on the high side for JSON, names,
 * ids and prose. Tokenizers differ; this one walks runs of letters, digits and marks the way
 * byte-pair tokenizers split text.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const run of text.match(
    /[a-z]+|[A-Z][a-z]+|[A-Z]+|[0-9]+|[ \n]+|[!-/:-@[-`{-~]+|[^\0-\x7F]+|./gs,
  ) ?? []) {
    const code = run.charCodeAt(0);
    if (code > 127) tokens += Math.ceil(Buffer.byteLength(run) / 2);
    else if (code >= 48 && code <= 57) tokens += Math.ceil(run.length / 3);
    else if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90))
      tokens += run.length <= 7 ? 1 : Math.ceil(run.length / 3.5);
    else if (code === 32 || code === 10) tokens += 0.25;
    else tokens += Math.ceil(run.length / 3);
  }

  return Math.ceil(tokens);
}

/**
 * How many of the first `items` fit into a budget of tokens together with `fixed`. At least one,
 * since paging could never get past a page without rows.
 */
export function countThatFits(items: readonly unknown[], fixed: unknown, budget: number): number {
  let used = estimateTokens(JSON.stringify(fixed));
  let count = 0;
  for (const item of items) {
    used += estimateTokens(JSON.stringify(item)) + 1;
    if (used > budget && count > 0) break;
    count += 1;
  }

  return count;
}

/** Strings are cut to these lengths, one after the other, until a row fits. */
const textLimits = [160, 60, 24] as const;

/** Records in column form: names once, rows after. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Columns without a value in any row; they are not in `columns`. */
  readonly emptyColumns: readonly string[];
  /** Columns that did not fit even with one row. */
  readonly leftOut: readonly string[];
}

/** Where the rows of a table come from. */
export interface RowSource {
  readonly count: number;
  /** Row number `index`, with its strings cut to a length. */
  row(index: number, textLimit: number): readonly Cell[];
}

/**
 * Makes a table of at most `budget` tokens: fewer rows when not all fit, then shorter strings, then
 * fewer columns. There is always at least one row, and never an error.
 */
export function makeTable(columns: readonly string[], source: RowSource, budget: number): Table {
  let names = columns;
  let rows = readRows(source, textLimits[0], budget);
  const isUsed = names.map((_, column) => rows.some((row) => row[column] !== null));
  const keepUsed = <Item>(items: readonly Item[]): Item[] => items.filter((_, i) => isUsed[i]);
  const emptyColumns = rows.length === 0 ? [] : names.filter((_, i) => !isUsed[i]);
  const size = (row: readonly Cell[] | undefined): number =>
    row === undefined ? 0 : estimateTokens(JSON.stringify([names, emptyColumns, row]));
  if (rows.length > 0) {
    names = keepUsed(names);
    rows = rows.map(keepUsed);
  }

  for (const limit of textLimits.slice(1)) {
    if (size(rows[0]) <= budget) break;
    rows = readRows(source, limit, budget).map(keepUsed);
  }

  const leftOut: string[] = [];
  while (size(rows[0]) > budget && names.length > 1) {
    leftOut.unshift(...names.slice(-1));
    names = names.slice(0, -1);
    rows = rows.map((row) => row.slice(0, -1));
  }

  const shown = countThatFits(rows, [names, emptyColumns, leftOut], budget);
  return { columns: names, rows: rows.slice(0, shown), emptyColumns, leftOut };
}

/** Reads no more rows than could fit if their nulls cost nothing. */
function readRows(source: RowSource, textLimit: number, budget: number): (readonly Cell[])[] {
  const rows: (readonly Cell[])[] = [];
  let least = 0;
  while (rows.length < source.count && least <= budget) {
    const row = source.row(rows.length, textLimit);
    rows.push(row);
    least += estimateTokens(JSON.stringify(row.filter((cell) => cell !== null)));
  }

  return rows;
}

/** A place in a list: how many rows come before it, and how long the list was. */
export interface Position {
  readonly offset: number;
  readonly total: number | null;
}

/** What a cursor belongs to: a tool and its other arguments. */
const markOf = (of: unknown): string =>
  createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 8);

/** Writes a cursor. It holds everything it needs; the server keeps nothing. */
export const writeCursor = (of: unknown, { offset, total }: Position): string =>
  `${offset}.${total ?? 'x'}.${markOf(of)}`;

/** Reads a cursor back. Throws when it does not belong to this call. */
export function readCursor(of: unknown, cursor: string | undefined): Position {
  if (cursor === undefined) return { offset: 0, total: null };
  const [, offset, total, mark] =
    /^(\d{1,9})\.(\d{1,12}|x)\.([0-9a-f]{8})$/.exec(cursor.trim()) ?? [];
  if (mark !== markOf(of))
    throw invalid(
      'foreign_cursor',
      'The cursor does not belong to this call. It was made for another filter, tool or API version, or it was changed.',
      'Repeat the arguments of the call that returned the cursor and add only the cursor, or start again without one.',
    );

  return { offset: Number(offset), total: total === 'x' ? null : Number(total) };
}
