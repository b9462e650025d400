import { expect, test } from 'vitest';
import { RowSet } from '../src/rows/row-set.ts';

test('a set of rows has the rows that were added, and no others', () => {
  // Next to each other, at the edges of pieces, and far beyond 32 bits.
  const near = [0, 1, 7, 8, 31, 32, 65_535, 65_536, 65_537, 131_072, 2 ** 31, 2 ** 32, 2 ** 32 + 9, 2 ** 45];
  const added = near.filter((_, i) => i % 2 === 0);
  const rows = new RowSet();
  for (const row of added) rows.add(row);
  for (const row of added) rows.add(row);
  expect(near.filter((row) => rows.has(row))).toEqual(added);
  for (const row of near.filter((_, i) => i % 2 === 1)) rows.add(row);
  expect(near.every((row) => rows.has(row))).toBe(true);
  expect([2, 9, 33, 65_534, 2 ** 31 + 1, 2 ** 32 + 8, 2 ** 45 - 1].some((row) => rows.has(row))).toBe(false);
});
