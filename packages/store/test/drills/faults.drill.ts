import { testStores } from '@call-attribution/test-tools';
import { openDrill } from '@call-attribution/test-tools/drill';
import { test } from 'vitest';
import { injectFaults } from '../faults.ts';
import { faults } from '../faulty-postgres.ts';

// Every statement meets some of the faults; with --long each of them meets each.
const every = process.env.CALLS_DRILLS === 'long' ? 1 : 4;
const tally = openDrill({
  name: 'postgres-faults',
  kind: 'cut connections',
  what: 'Each statement meets connections that are cut, stalled or ended, and SQLSTATE 40001, 40P01, 25P03, 57P01 and 53300; it is retried or fails with one typed error, and the calls are those that were acknowledged',
});

test('faults of PostgreSQL in every statement cost a retry or one typed error', async () => {
  const isWanted = (fault: (typeof faults)[number], statement: number): boolean =>
    (statement + faults.indexOf(fault)) % every === 0;
  for (const { newUrl } of testStores().filter(({ kind }) => kind === 'postgres'))
    await injectFaults(newUrl, isWanted, tally);
});
