import { Tally } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { wholeIsWhole } from './laws/stretches.ts';

test('a copy that calls itself whole has every call that the server had when it was counted', async () => {
  const tally = new Tally();
  await wholeIsWhole(Number(process.env.CALLS_RUNS ?? 40), tally);
  expect(tally.counts).toMatchObject({ lost: 0, lied: 0, hung: 0 });
});
