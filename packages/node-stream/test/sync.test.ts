import { createHash } from 'node:crypto';
import type { Call } from '@call-attribution/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryState } from '../src/sync/state-stores.ts';
import { syncCalls, syncInto } from '../src/sync/sync.ts';
import type { SyncOptions } from '../src/sync/sync-options.ts';
import type { SyncState, UpsertSink } from '../src/sync/sync-state.ts';
import { type FakeRecord, FakeServer, fakeRecords } from './fake-server.ts';
import { memoryStore, syncsThroughCrashes } from './laws/sync.ts';

const runs = Number(process.env.CALLS_RUNS ?? 20);
const now = () => Date.UTC(2026, 5, 1);
const options: SyncOptions = { clock: { now }, rows: 20, lookback: '1d', settle: '10d' };

async function kinds(server: FakeServer, state = memoryState(), more: Partial<SyncOptions> = {}) {
  const found: Record<string, string> = {};
  for await (const { kind, call } of syncCalls(server, { ...options, ...more, state }))
    found[call.sid] = kind;
  return found;
}

const only = (found: Record<string, string>, kind: string) =>
  Object.keys(found)
    .filter((sid) => found[sid] === kind)
    .sort();

describe('syncCalls', () => {
  test('all records are new at first, and those of the lookback are the same in the next run', async () => {
    const server = new FakeServer(fakeRecords(300, () => 3600));
    const state = memoryState();
    expect(only(await kinds(server, state), 'new')).toHaveLength(300);
    const again = await kinds(server, state);
    // A run begins a lookback before the latest call, or up to an eighth of it earlier.
    expect(only(again, 'same').slice(-25)).toEqual(server.records.slice(-25).map(({ sid }) => sid));
    expect(Object.keys(again).length).toBeLessThanOrEqual(25 + 3);
  });

  test('it finds new, late and changed records of the lookback', async () => {
    const server = new FakeServer(fakeRecords(100, () => 600));
    const state = memoryState();
    await kinds(server, state);
    server.records.push(
      { sid: 'late', date_added: '2026-01-01 10:00:00' },
      { sid: 'fresh', date_added: '2026-01-02 00:00:00' },
    );
    server.records[99] = { ...(server.records[99] as FakeRecord), note: 'changed' };
    const found = await kinds(server, state);
    expect(only(found, 'new')).toEqual(['fresh', 'late']);
    expect(only(found, 'changed')).toEqual(['s0000099']);
  });

  test('it reads records with an open status again, one by one, until they are final or too old', async () => {
    const records = fakeRecords(20, () => 12 * 3600).map((record) => ({
      ...record,
      ppc_status: 'Processed',
    }));
    const waiting = { ppc_status: 'Waiting For Keyword' };
    for (const i of [0, 1, 2]) records[i] = { ...(records[i] as (typeof records)[0]), ...waiting };
    const server = new FakeServer(records);
    const state = memoryState();
    await kinds(server, state, { settle: '9d' });
    // The last record lies 9.5 days behind the first: too old by half a day.
    server.records[1] = { ...(server.records[1] as FakeRecord), ppc_status: 'Processed' };
    server.single.length = 0;
    expect(only(await kinds(server, state, { settle: '9d' }), 'changed')).toEqual(['s0000001']);
    expect(server.single).toEqual(['s0000001', 's0000002']);
    server.single.length = 0;
    await kinds(server, state, { settle: '9d' });
    expect(server.single).toEqual(['s0000002']);
  });

  test('timeout, retry and headers go with every request', async () => {
    const open = { ppc_status: 'Waiting For Keyword' };
    const server = new FakeServer(fakeRecords(20, () => 12 * 3600).map((record) => ({ ...record, ...open })));
    const state = memoryState();
    await kinds(server, state, { settle: '20d' });
    const request = { timeout: { attempt: 5_000 }, retry: { attempts: 2 }, headers: { 'x-team': 'a' } };
    server.requests.length = 0;
    const single: unknown[] = [];
    const getCall = server.getCall.bind(server);
    server.getCall = (sid: string, sent?: unknown) => {
      single.push(sent);
      return getCall(sid);
    };
    await kinds(server, state, { settle: '20d', ...request });
    expect(single.length).toBeGreaterThan(3);
    for (const sent of [...single, ...server.requests]) expect(sent).toMatchObject(request);
  });

  test('it gives what recall returns as before', async () => {
    const server = new FakeServer(fakeRecords(3));
    const state = memoryState();
    await kinds(server, state);
    server.records[1] = { ...(server.records[1] as FakeRecord), note: 'new text' };
    const recall = (sid: string) => ({ sid, note: 'old text' }) as unknown as Call;
    const changes = [];
    for await (const change of syncCalls(server, { ...options, state, recall })) {
      if (change.kind === 'changed') changes.push(change);
    }
    expect(changes).toMatchObject([{ call: { note: 'new text' }, before: { note: 'old text' } }]);
  });

  test('it does not count an ignored field as a change', async () => {
    const server = new FakeServer(fakeRecords(3));
    const state = memoryState();
    await kinds(server, state);
    server.records[1] = { ...(server.records[1] as FakeRecord), note: 'signed again' };
    expect(only(await kinds(server, state, { ignore: ['note'] }), 'same')).toHaveLength(3);
  });

  test('it repeats what the consumer had not handled', async () => {
    const server = new FakeServer(fakeRecords(100));
    const state = memoryState();
    const dealtWith = new Set<string>();
    for await (const { call } of syncCalls(server, { ...options, state })) {
      if (dealtWith.size === 30) break;
      dealtWith.add(call.sid);
    }
    const rest = await kinds(server, state);
    expect(new Set([...dealtWith, ...Object.keys(rest)]).size).toBe(100);
  });

  test('a record from the future does not mislead it', async () => {
    const server = new FakeServer([...fakeRecords(50), { sid: 'clock', date_added: '2099-01-01 00:00:00' }]);
    const state = memoryState();
    await kinds(server, state);
    server.records.push({ sid: 'fresh', date_added: '2026-01-01 01:00:00' });
    expect(only(await kinds(server, state), 'new')).toEqual(['fresh']);
  });

  test('another filter adds stretches of its own, and the first one goes on where it was', async () => {
    const server = new FakeServer(fakeRecords(100, () => 3600));
    const state = memoryState();
    await kinds(server, state);
    const other = await kinds(server, state, { filter: 'inc_gce:1' });
    expect(Object.keys(other)).toHaveLength(100);
    expect((await state.load())?.parts.map(({ filter }) => filter)).toEqual(['', 'inc_gce:1']);
    expect(only(await kinds(server, state), 'new')).toEqual([]);
  });

  test('an earlier begin reads what was never asked for, and no more', async () => {
    const server = new FakeServer(fakeRecords(200, () => 3600));
    const state = memoryState();
    const from = (time: string) => ({ filter: `date_added:[${time} TO *]` });
    expect(Object.keys(await kinds(server, state, from('2026-01-05 00:00:00')))).toHaveLength(104);
    const earlier = await kinds(server, state, from('2026-01-03 00:00:00'));
    expect(only(earlier, 'new')).toHaveLength(48);
    // The rest is the end that is read again by each run.
    expect(only(earlier, 'same').length).toBeLessThanOrEqual(25 + 3);
  });

  test('a period that moves continues with its state, without a gap after a pause', async () => {
    // A call each hour, from the first to the fifth of January.
    const all = fakeRecords(120, () => 3600);
    const at = (hour: number) => (all[hour] as FakeRecord).date_added;
    const server = new FakeServer([]);
    const state = memoryState();
    const last = (hours: number, hour: number) => ({ from: at(hour - hours), to: null });
    const run = async (hour: number, hours = 12) => {
      server.records = all.slice(0, hour);
      return only(await kinds(server, state, { period: last(hours, hour) }), 'new').length;
    };
    expect(await run(24)).toBe(12);
    expect(await run(30)).toBe(6);
    expect(await run(30)).toBe(0);
    // Nothing ran for two days.
    expect(await run(78)).toBe(48);
    // A longer period reads what lies before.
    server.records = all.slice(0, 80);
    const longer = await kinds(server, state, { period: last(74, 80) });
    expect(Object.keys(longer)).toEqual(expect.arrayContaining(all.slice(6, 12).map(({ sid }) => sid)));
    expect(only(longer, 'new')).toEqual(expect.arrayContaining(all.slice(78, 80).map(({ sid }) => sid)));
    // A run that is interrupted ends as it began.
    server.records = all.slice(0, 100);
    const moving = { ...options, rows: 5, state, period: { ...last(12, 100), to: at(95) } };
    for await (const { kind } of syncCalls(server, moving)) if (kind === 'new') break;
    server.records = all;
    const rest = await kinds(server, state, { rows: 5, period: { ...last(12, 119), to: at(118) } });
    expect(only(rest, 'new')).toHaveLength(118 - 80);
  });
});

describe('syncInto', () => {
  test('the store ends with the records of the server, whenever a run dies', () => syncsThroughCrashes(runs));

  test('it reports what it did', async () => {
    const server = new FakeServer(fakeRecords(60, () => 3600));
    const sink = memoryStore();
    expect(await syncInto(server, sink, options)).toMatchObject({
      new: 60,
      changed: 0,
      same: 0,
      latest: '2026-01-03 11:00:00',
      proof: 'whole',
      calls: 60,
      missing: 0,
      gaps: [],
    });
    server.records[59] = { ...(server.records[59] as FakeRecord), note: 'x' };
    expect(await syncInto(server, sink, options)).toMatchObject({ new: 0, changed: 1, same: 26 });
  });

  test('its state does not grow with the lookback when the sink compares records', async () => {
    const sizes = [];
    for (const lookback of ['1h', '9d'] as const) {
      const server = new FakeServer(fakeRecords(300, () => 3600));
      const states: SyncState[] = [];
      const sink: UpsertSink = {
        compares: true,
        load: async () => states.at(-1) ?? null,
        commit: async ({ calls, state }) => {
          states.push(state);
          return { added: calls.length, changed: 0 };
        },
      };
      await syncInto(server, sink, { ...options, lookback });
      await syncInto(server, sink, { ...options, lookback });
      sizes.push(Math.max(...states.map((state) => JSON.stringify(state).length)));
    }
    // Some 50 stretches at most, however many calls there are.
    expect(Math.max(...sizes)).toBeLessThan(6_000);
  });
});

describe('the hash of a record', () => {
  /** As it is written down for readers of a state. */
  const reference = (record: object) => {
    const entries = Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
    return createHash('sha256').update(JSON.stringify(entries)).digest('base64url').slice(0, 16);
  };
  const fields = fc.dictionary(
    fc
      .oneof(fc.constantFrom('note', 'city', '1', '10', 'ü"'), fc.string({ maxLength: 8 }))
      .filter((name) => name !== '__proto__'),
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(null, true, '', 0, [1], { a: 1 }),
    ),
    { maxKeys: 6 },
  );

  test('it is the same in any order of fields, and another one when a value changes', () =>
    fc.assert(
      fc.asyncProperty(fields, fc.nat(7), fc.anything({ maxDepth: 1 }), async (more, which, other) => {
        const [first, neighbor] = fakeRecords(2) as [FakeRecord, FakeRecord];
        // As it arrives: what JSON does not have, such as -0, is gone.
        const record = JSON.parse(
          JSON.stringify({ ...first, ...more, sid: first.sid, date_added: first.date_added }),
        ) as FakeRecord;
        const server = new FakeServer([record, neighbor]);
        const state = memoryState();
        await kinds(server, state);
        const { seen } = (await state.load()) as SyncState;
        expect(seen.map(([, , hash]) => hash)).toEqual([record, neighbor].map(reference));

        const reversed = Object.fromEntries(Object.entries(record).reverse()) as unknown as FakeRecord;
        server.records = [reversed, neighbor];
        expect(only(await kinds(server, state), 'same')).toHaveLength(2);

        const names = Object.keys(record).filter((name) => name !== 'sid' && name !== 'date_added');
        const name = names[which % Math.max(1, names.length)] ?? 'note';
        const changed = JSON.parse(JSON.stringify({ ...record, [name]: other ?? null })) as FakeRecord;
        server.records = [changed, neighbor];
        const isEqual = reference(changed) === reference(record);
        expect((await kinds(server, state))[record.sid]).toBe(isEqual ? 'same' : 'changed');
      }),
      { numRuns: 2 * runs },
    ));
});
