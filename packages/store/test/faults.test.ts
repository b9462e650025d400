import { testStores } from '@call-attribution/test-tools';
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
    const { runs, hung } = await injectFaults(newUrl, isWanted);
    expect(runs).toBeGreaterThan(5);
    expect(hung).toBe(0);
  }
});
