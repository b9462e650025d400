import { type Call, phoneKey } from '@call-attribution/core';
import { openDrill } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { call, rowsOf, testWarehouse } from '../support.ts';

// The drills run this file too, with more runs: see vitest.config.ts.
const runs = Number(process.env.CALLS_LAW_RUNS ?? 3);
const tally = openDrill({
  name: 'warehouse-callers',
  kind: 'random histories',
  what: 'Calls of the same callers arrive in any order; exactly one call of each caller is the first',
});

test('exactly one call of each caller is the first, whatever comes in which order', async () => {
  const { warehouse } = await testWarehouse();
  const anyCall = fc.record({
    sid: fc.integer({ min: 0, max: 25 }),
    ani: fc.constantFrom('5555550100', '15555550100', '5555550101', '5555550102', 'Anonymous', null),
    date_added: fc.constantFrom(
      '2026-01-01 00:00:00',
      '2026-01-02 00:00:00',
      '2026-01-03 00:00:00',
      '2026-02-31 00:00:00',
    ),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyCall, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 }),
      tally.counted(async (batches) => {
        run += 1;
        const account = `run-${run}`;
        const stored = new Map<string, Call>();
        for (const batch of batches) {
          const calls = batch.map(({ sid, ...rest }) => call(`S${sid}`, rest));
          await warehouse.load(account, calls);
          for (const each of calls) stored.set(each.sid, each);
        }
        const expected = new Map<string, string>();
        const place = ({ date_added, sid }: Call) =>
          `${date_added === '2026-02-31 00:00:00' ? '9' : date_added} ${sid}`;
        for (const each of stored.values()) {
          const key = typeof each.ani === 'string' ? phoneKey(each.ani) : '';
          if (!/^\d+$/.test(key)) continue;
          const known = stored.get(expected.get(key) ?? '');
          if (known === undefined || place(each) < place(known)) expected.set(key, each.sid);
        }
        const rows = await rowsOf(
          warehouse,
          `select sid from calls where account = '${account}' and caller_type = 'first' order by sid`,
        );
        expect(rows.map((row) => row.sid)).toEqual([...expected.values()].sort());
      }),
    ),
    { numRuns: runs },
  );
});
