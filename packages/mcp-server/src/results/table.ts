import type { FieldSpec } from '@call-attribution/core';
import type { Cell } from '../fields/view.ts';
import { countThatFits } from './fit.ts';
import { estimateTokens } from './tokens.ts';

/** Text is cut to these lengths, one after the other, until a row fits. */
const textLimits = [160, 60, 24];

/** Records in column form: names once, rows after. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Columns without a value in any row; they are left out. */
  readonly emptyColumns: readonly string[];
  /** Columns that did not fit even with one row. */
  readonly leftOut: readonly string[];
}

/** Where the rows of a table come from. */
export interface RowSource {
  readonly count: number;
  /** Row number `index`, its texts cut to a length. */
  row(index: number, textLimit: number): readonly Cell[];
}

/**
 * Makes a table of at most `budget` tokens: fewer rows when not all fit, then shorter texts, then fewer columns, so
 * that there is always at least one row and never an error.
 */
export function makeTable(specs: readonly FieldSpec[], source: RowSource, budget: number): Table {
  let names = specs.map((spec) => spec.name);
  let rows = readRows(source, textLimits[0] as number, budget);
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
    leftOut.unshift(names.at(-1) as string);
    names = names.slice(0, -1);
    rows = rows.map((row) => row.slice(0, -1));
  }
  const shown = countThatFits(rows, [names, emptyColumns, leftOut], budget);
  return { columns: names, rows: rows.slice(0, shown), emptyColumns, leftOut };
}

/** Reads no more rows than could fit if all that is null in them cost nothing. */
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
