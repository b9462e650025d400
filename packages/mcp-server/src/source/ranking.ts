import { nearest } from '@call-attribution/query-dsl';
import type { Cell } from '../fields/view.ts';
import { ToolError } from '../text/failures.ts';

// Which rows of a table are shown, and in which order.

/** A column to sort by. */
export interface Order {
  readonly column: string;
  readonly descending: boolean;
}

/** Reads `calls desc, ppc_campaign`; `-calls` means the same as `calls desc`. */
export function readOrder(order: string | undefined, columns: readonly string[]): Order[] {
  if (order === undefined) return [];
  return order.split(',').map((part) => {
    const [, sign = '', column = '', direction = ''] =
      /^\s*(-?)([\w()]+)(?:\s+(asc|desc))?\s*$/i.exec(part) ?? [];
    if (columns.includes(column)) return { column, descending: sign === '-' || /desc/i.test(direction) };
    const meant = nearest(column, columns);
    throw new ToolError({
      code: 'unknown_name',
      what: 'column to order by',
      name: part,
      nearest: meant,
      known: columns,
    });
  });
}

interface HavingTest {
  readonly column: string;
  test(value: number): boolean;
}

const operators: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
  '<>': (a, b) => a !== b,
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '=': (a, b) => a === b,
};

/** Reads conditions on measures, joined by AND. A warehouse takes any condition. */
export function readHaving(having: string, columns: readonly string[]): HavingTest[] {
  return having.split(/\s+and\s+/i).map((part) => {
    const [, column = '', operator = '', number] =
      /^\s*([\w()]+)\s*(>=|<=|<>|>|<|=)\s*(-?\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    const compare = operators[operator];
    if (number === undefined || compare === undefined)
      throw new ToolError({ code: 'needs_mirror', what: `the condition "having: ${having}"` });
    if (!columns.includes(column)) {
      const meant = nearest(column, columns);
      throw new ToolError({
        code: 'unknown_name',
        what: 'measure in having',
        name: column,
        nearest: meant,
        known: columns,
      });
    }
    return { column, test: (value) => compare(value, Number(number)) };
  });
}

type Row = Readonly<Record<string, Cell>>;

/** Whether a row fulfills all conditions. */
export const passes = (row: Row, tests: readonly HavingTest[]): boolean =>
  tests.every(({ column, test }) => typeof row[column] === 'number' && test(row[column]));

/** Compares rows by columns; equal ones by what they are groups of, and nothing comes last. */
export function compareRows(order: readonly Order[], columns: readonly string[]): (a: Row, b: Row) => number {
  const all = [...order, ...columns.map((column) => ({ column, descending: false }))];
  return (a, b) => {
    for (const { column, descending } of all) {
      const [x, y] = [a[column] ?? null, b[column] ?? null];
      if (x === y) continue;
      if (x === null || y === null) return x === null ? 1 : -1;
      const less = typeof x === 'number' && typeof y === 'number' ? x < y : String(x) < String(y);
      return less === descending ? 1 : -1;
    }
    return 0;
  };
}
