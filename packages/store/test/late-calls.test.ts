import { testStores } from '@call-attribution/test-tools';
import { Tally } from '@call-attribution/test-tools/drill';
import { describe, expect, test } from 'vitest';
import { readDuringLateCalls } from './late-calls.ts';

// Ten thousand reads are in drills/late-calls.drill.ts.
describe.each(testStores())('a $kind store', ({ newUrl }) => {
  test('it returns whole pages while late calls arrive', async () => {
    const tally = new Tally();
    await readDuringLateCalls(await newUrl(), 60, 1_000, tally);
    expect(tally.counts).toMatchObject({ runs: 60, lost: 0, doubled: 0, lied: 0 });
    expect(tally.events['late calls']).toBeGreaterThan(0);
  });
});
