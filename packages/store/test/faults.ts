import type { Call } from '@call-attribution/core';
import { Tally } from '@call-attribution/test-tools/drill';
import { expect } from 'vitest';
import { type Store, StoreError } from '../src/index.ts';
import { openLimitedStore } from '../src/open-store.ts';
import { type Fault, faults, startFaultyPostgres } from './faulty-postgres.ts';
import { smallCall, timeText } from './small-calls.ts';

const calls = Array.from({ length: 24 }, (_, i) =>
  smallCall(`S${i}`, timeText(1_700_000_000 + i * 5_000), String(i % 5)),
);
const moved = calls
  .slice(0, 12)
  .map((call) => ({ ...call, city: 'Elsewhere', talk_minutes: '9.9' }) as Call);

/** What is left when all tasks are done. */
const left = new Map(
  [...calls.slice(0, 22), ...moved.slice(6), ...calls.slice(0, 6)].map((call) => [call.sid, call]),
);

/** One after the other, everything that a store does. The last one checks what is in it. */
const tasks: readonly ((store: Store) => Promise<unknown>)[] = [
  (store) => store.putAccount({ id: '1', name: 'One' }),
  (store) => store.putCredential('1', { kind: 'bearer', token: 'token' }),
  async (store) => expect(await store.upsert('1', calls)).toMatchObject({ stored: 24 }),
  async (store) => expect(await store.upsert('1', moved)).toMatchObject({ stored: 12, added: 0 }),
  async (store) => {
    const claim = await store.claim('1', 'drill');
    const stored = await store.commitClaimed(claim, { calls: calls.slice(0, 6), note: { at: 1 } });
    expect(stored).toMatchObject({ stored: 6, added: 0 });
  },
  (store) => store.remove('1', ['S23', 'S22']),
  async (store) =>
    expect(await store.findAccount({ kind: 'bearer', token: 'token' })).not.toBeNull(),
  async (store) => {
    const page = await store.page('1', {
      selection: {},
      version: 'v3',
      offset: 1,
      rows: 20,
    });
    expect([page.total, (JSON.parse(String(page.body)) as Call[]).length]).toEqual([22, 20]);
  },
  async (store) => {
    let found = 0;
    for await (const { length } of store.columns('1', ['sid', 'city'])) found += length;
    expect(found).toBe(22);
  },
  async (store) => {
    expect(await store.note('1')).toMatchObject({ note: { at: 1 } });
    expect(await store.count('1')).toBe(22);
  },
];

/**
 * Runs everything that a store does, again and again, and lets each statement in turn meet each
 * fault. A task must succeed, or fail with one retryable `StoreError` and succeed when it is
 * repeated; the last one checks that nothing is lost or doubled.
 */
export async function injectFaults(
  newUrl: () => Promise<string>,
  isWanted: (fault: Fault, statement: number) => boolean,
  tally = new Tally(),
): Promise<void> {
  const proxy = await startFaultyPostgres(await newUrl());
  const limits = {
    idleTransactionTimeout: 3_000,
    reconnectTimeout: 3_000,
  };
  const store = await openLimitedStore(proxy.url, { statementTimeout: 600 }, limits);

  const once = async (fault: Fault | null, statement: number): Promise<number> => {
    // A run can end before the statement of its fault, which would then be one of the preparations
    // of the next run.
    proxy.arm(null);
    await store.putAccount({ id: '1', name: 'One' });
    await store.remove(
      '1',
      calls.map(({ sid }) => sid),
    );
    proxy.arm(fault, statement);
    let failed = 0;
    for (const task of tasks)
      await withinSeconds(20, tally, async () => {
        await task(store).catch(async (error: unknown) => {
          if (!(error instanceof StoreError)) throw error;
          expect(error).toMatchObject({
            isRetryable: true,
            code: expect.stringMatching(/^store_(busy|unavailable)$/),
          });
          failed += 1;
          await task(store);
        });
      });

    expect({ fault, statement, failed: Math.max(failed, 1) }).toEqual({
      fault,
      statement,
      failed: 1,
    });
    const statements = proxy.statements();
    proxy.arm(null);
    const found = new Map<string, Call>();
    const sids: string[] = [];
    for await (const call of store.calls('1')) {
      found.set(call.sid, call);
      sids.push(call.sid);
    }

    tally.compare(left.keys(), sids);

    // What was acknowledged is what is there.
    for (const [sid, call] of left) if (found.has(sid)) expect(found.get(sid)).toMatchObject(call);
    if (fault !== null) tally.happened(failed === 0 ? 'retries' : 'typed errors');
    return statements;
  };

  const statements = await tally.run(() => once(null, 0));
  for (const fault of faults)
    for (let statement = 0; statement < statements; statement += 1)
      if (isWanted(fault, statement)) await tally.run(() => once(fault, statement));

  await store.close();
  await proxy.close();
}

/** A task that takes longer does not end by itself, as far as its caller is concerned. */
async function withinSeconds(
  seconds: number,
  tally: Tally,
  work: () => Promise<void>,
): Promise<void> {
  const start = performance.now();
  await work();
  if (performance.now() - start < seconds * 1000) return;
  tally.add({ hung: 1 });
  throw new Error(`A task took more than ${seconds} seconds.`);
}
