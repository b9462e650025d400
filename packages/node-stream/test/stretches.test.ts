import { Tally } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { readsInTurns } from './laws/cut-turns.ts';
import { wholeIsWhole } from './laws/stretches.ts';

test('a copy that calls itself whole has every call that the server had when it was counted', async () => {
  const tally = new Tally();
  await wholeIsWhole(Number(process.env.CALLS_RUNS ?? 40), tally);
  expect(tally.counts).toMatchObject({ lost: 0, lied: 0, hung: 0 });
});

test.each([
  ['turns of 3 pages', { maxPages: 3 }],
  ['turns that are killed', { dies: 20 }],
])('a first read in %s ends, with at most 1.1 times the requests of one turn', (_, cut) =>
  readsInTurns({ calls: 2_000, rows: 20, ...cut }),
);
