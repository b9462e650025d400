import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { batch, dedupe, isMark, Mark, mapCalls, type Operator } from '../src/index.ts';
import { all } from './calls-of.ts';

const marked = [1, 2, new Mark({ until: '2024-01-02 00:00:00' }), 2, 3, 4, 5];

/** Both forms of an operator over the same input. */
async function bothForms<O>(make: () => Operator<number, O>, input: readonly unknown[]) {
  const source = input as readonly (number | Mark)[];
  const over = await all(make().over(source));
  const piped: unknown[] = [];
  await pipeline(Readable.from(source), make(), async (items) => {
    for await (const item of items) piped.push(item);
  });
  return { over, piped };
}

describe('every operator', () => {
  const cases: [string, () => Operator<number, unknown>, unknown[]][] = [
    ['mapCalls', () => mapCalls((n: number) => n * 10), [10, 20, 'mark', 20, 30, 40, 50]],
    ['mapCalls leaves out null', () => mapCalls((n: number) => (n % 2 ? n : null)), [1, 'mark', 3, 5]],
    ['mapCalls async', () => mapCalls(async (n: number) => n + 1), [2, 3, 'mark', 3, 4, 5, 6]],
    [
      'mapCalls concurrent',
      () => mapCalls(async (n: number) => n, { concurrency: 3 }),
      [1, 2, 'mark', 2, 3, 4, 5],
    ],
    ['dedupe', () => dedupe<number>({ key: String }), [1, 2, 'mark', 2, 3, 4, 5]],
    ['batch', () => batch<number>({ count: 3 }), [[1, 2], 'mark', [2, 3, 4], [5]]],
  ];
  it.each(cases)(
    '%s gives the same as a transform and as an iterable, marks in place',
    async (_, make, expected) => {
      const { over, piped } = await bothForms(make, marked);
      const plain = (items: unknown[]) => items.map((item) => (isMark(item) ? 'mark' : item));
      expect(plain(over)).toEqual(expected);
      expect(plain(piped)).toEqual(expected);
    },
  );
});
