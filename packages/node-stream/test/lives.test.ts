import { Tally } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { copiesLive, exportsLive } from './laws/lives.ts';

// Many more are in drills/lives.drill.ts.
test.each([
  ['40 syncs, of which some die, are cut and have wrong clocks', copiesLive, 40],
  ['10 exports by month, of which some die', exportsLive, 10],
])('%s, call nothing whole that is not', async (_, live, runs) => {
  const tally = new Tally();
  await live(runs, 60, tally);
  expect(tally.counts).toMatchObject({ lost: 0, doubled: 0, lied: 0, hung: 0 });
});
