import type { Call } from '@call-attribution/core';
import { Tally } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { SyncOptions } from '../../src/sync/plan.ts';
import type { SyncBatch, SyncState, UpsertSink } from '../../src/sync/state.ts';
import { syncInto } from '../../src/sync/sync.ts';
import { type FakeRecord, FakeServer, fakeRecords } from '../fake-server.ts';

const options: SyncOptions = {
  clock: { now: () => Date.UTC(2026, 5, 1) },
  rows: 20,
  lookback: '1d',
  settle: '10d',
};

/**
 * A store in memory that takes records and state together, and can die before a commit.
 *
 * @param stateEvery it keeps the state of each n-th commit only, and of those that end a run.
 * @param initial the state that it has at first.
 */
export function memoryStore(
  stateEvery = 1,
  initial: SyncState | null = null,
): UpsertSink & { rows: Map<string, Call>; dieAfter: number; onCommit: () => void } {
  let state = initial;
  let commits = 0;
  const sink = {
    rows: new Map<string, Call>(),
    dieAfter: Number.POSITIVE_INFINITY,
    onCommit: () => {},
    load: async () => state,
    async commit(batch: SyncBatch) {
      sink.dieAfter -= 1;
      if (sink.dieAfter < 0) throw new Error('killed');

      // What a real store keeps is text: a state that is not plain JSON would be caught here.
      commits += 1;
      if (commits % stateEvery === 0 || batch.isLast)
        state = JSON.parse(JSON.stringify(batch.state));
      let added = 0;
      let changed = 0;
      for (const call of batch.calls) {
        const before = sink.rows.get(call.sid);
        if (before === undefined) added += 1;
        else if (JSON.stringify(before) !== JSON.stringify(call)) changed += 1;
        sink.rows.set(call.sid, call);
      }

      sink.onCommit();
      return { added, changed };
    },
  };
  return sink;
}

/**
 * Syncs into a store that dies at any commit while the server goes on: in the end both hold the
 * same records.
 */
export async function syncsThroughCrashes(numRuns: number, tally = new Tally()): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      fc.constantFrom(1, 3),
      fc.array(
        fc.record({
          dies: fc.integer({ min: 0, max: 8 }),
          late: fc.nat(86_000),
          touched: fc.nat(200),
        }),
        { maxLength: 6 },
      ),
      (count, stateEvery, rounds) =>
        tally.run(async () => {
          const server = new FakeServer(
            fakeRecords(count, (i) => (i % 7) * 500).map((record, i) => ({
              ...record,
              ppc_status: i % 5 === 0 ? 'Waiting For Keyword' : 'Processed',
            })),
          );
          const sink = memoryStore(stateEvery);
          for (const [i, { dies, late, touched }] of rounds.entries()) {
            sink.dieAfter = dies;
            await syncInto(server, sink, options).catch((error: Error) => {
              expect(error.message).toBe('killed');
              tally.happened('kills');
            });
            const newest = Math.max(
              ...server.records.map(({ date_added }) =>
                Date.parse(`${date_added.replace(' ', 'T')}Z`),
              ),
            );
            const date_added = new Date(newest - late * 1000)
              .toISOString()
              .slice(0, 19)
              .replace('T', ' ');
            server.records.push({ sid: `x${i}`, date_added, ppc_status: 'Processed' });
            // What is open may change for ten days, the rest while it lies in the lookback.
            const at = server.records.length - 1 - (touched % server.records.length);
            const record = server.records[at] as FakeRecord;
            const age = newest - Date.parse(`${record.date_added.replace(' ', 'T')}Z`);
            const isOpen = record.ppc_status !== 'Processed';
            if (age < (isOpen ? 10 : 1) * 86_400_000)
              server.records[at] = { ...record, note: `n${i}` };
          }

          sink.dieAfter = Number.POSITIVE_INFINITY;

          // The first of them ends what was interrupted; the second one reads again what may have
          // changed since it was read.
          await syncInto(server, sink, options);
          await syncInto(server, sink, options);
          tally.compare(
            server.records.map(({ sid }) => sid),
            [...sink.rows.keys()],
          );
          expect(Object.fromEntries(sink.rows)).toEqual(
            Object.fromEntries(server.records.map((record) => [record.sid, record])),
          );
        }),
    ),
    { numRuns },
  );
}
