import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { readDuringLateCalls } from './late-calls.ts';

// Ten thousand reads are in drills/late-calls.drill.ts.
describe.each(testStores())('a $kind store', ({ newUrl }) => {
  test('it returns whole pages while late calls arrive', async () => {
    const counts = await readDuringLateCalls(await newUrl(), 60, 1_000);
    expect(counts).toMatchObject({ runs: 60, lost: 0, doubled: 0, lied: 0 });
    expect(counts.inserted).toBeGreaterThan(0);
  });
});
