import { testStores } from '@call-attribution/test-tools';
import { Tally } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { injectFaults } from './faults.ts';

// Each fault in each statement is in drills/faults.drill.ts.
test('a PostgreSQL connection that breaks, stalls or is refused at any statement costs a retry or one typed error', async () => {
  for (const { newUrl } of testStores().filter(({ kind }) => kind === 'postgres')) {
    let turn = 0;
    const isWanted = () => {
      turn += 1;
      return turn % 41 === 0;
    };
    const tally = new Tally();
    await injectFaults(newUrl, isWanted, tally);
    expect(tally.counts.runs).toBeGreaterThan(5);
    expect(tally.counts.hung).toBe(0);
  }
});
