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

/**
 * Makes a table of at most `budget` tokens: fewer rows when not all fit, then shorter texts, then fewer columns, so
 * that there is always at least one row and never an error.
 */
export function makeTable(
  specs: readonly FieldSpec[],
  cells: (textLimit: number) => readonly (readonly Cell[])[],
  budget: number,
): Table {
  let names = specs.map((spec) => spec.name);
  let rows = cells(textLimits[0] as number);
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
    rows = cells(limit).map(keepUsed);
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
