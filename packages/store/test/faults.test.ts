import { testStores } from '@call-attribution/test-tools';
import { expect, test } from 'vitest';
import { openLimitedStore } from '../src/open-store.ts';
import { startFaultyPostgres } from './faulty-postgres.ts';

// Each fault in each statement of each kind of work is in drills/faults.drill.ts.
test('check() ends with a typed error when PostgreSQL stops responding', async () => {
  for (const { newUrl } of testStores().filter(({ kind }) => kind === 'postgres')) {
    const proxy = await startFaultyPostgres(await newUrl());
    const store = await openLimitedStore(
      proxy.url,
      { statementTimeout: 300 },
      { slowStatementTimeout: 600, reconnectTimeout: 0 },
    );
    await store.putAccount({ id: '1', name: 'One' });
    proxy.arm(null);
    expect(await store.check()).toEqual([]);
    const statements = proxy.statements();
    expect(statements).toBeGreaterThan(2);
    let failed = 0;
    for (const statement of [0, 1]) {
      proxy.arm('stall', statement);
      const result = await store.check().catch((error: unknown) => error);
      // The end of a transaction that only reads is not waited for, and may meet the fault of the next one.
      if (Array.isArray(result)) expect(result).toEqual([]);
      else expect(result).toMatchObject({ name: 'StoreError', isRetryable: true });
      failed += Array.isArray(result) ? 0 : 1;
    }
    expect(failed).toBeGreaterThan(0);
    await store.close();
    await proxy.close();
  }
});
