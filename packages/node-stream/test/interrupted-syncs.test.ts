import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { copyVerdict } from '../src/sync/copy-verdict.ts';
import type { SyncOptions } from '../src/sync/plan.ts';
import type { SyncState, UpsertSink } from '../src/sync/state.ts';
import { syncInto } from '../src/sync/sync.ts';
import { FakeServer, fakeRecords } from './fake-server.ts';
import { memoryStore } from './laws/sync.ts';

// A run that ends early, calls that come after it, and the next run: a copy that it calls whole has
// them.

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 1);
const settings = { lookback: '3d', settle: '10d' } as const;

/** By how much the clock of the first run was wrong. */
const clocks = {
  right: 0,
  'a month ahead': 30 * day,
  'a year ahead': 365 * day,
  'a month behind': -30 * day,
};

/** A run that ends after so many commits, pages, or requests. */
const ends = {
  commits: (at: number) => ({ dies: at }),
  pages: (at: number) => ({ maxPages: at }),
  requests: (at: number) => ({ fails: at }),
};

interface End {
  readonly dies?: number;
  readonly maxPages?: number;
  readonly fails?: number;
}

/** A call every four hours, 60 of them before the first run. */
const all = fakeRecords(80, () => 4 * 3600);

/** A run that ends early, four calls that come then, and a run that comes to its end. */
async function runAfter({ dies, maxPages, fails }: End, order: 'oldest' | 'newest', wrong: number) {
  let requests = 0;
  let most = fails ?? Number.POSITIVE_INFINITY;
  const server = new FakeServer(all.slice(0, 60), {
    before() {
      requests += 1;
      if (requests > most) throw new Error('killed');
    },
  });
  let now = start + 240 * hour + wrong;
  const options: SyncOptions = { ...settings, rows: 10, order, clock: { now: () => now } };
  const sink = memoryStore();
  sink.dieAfter = dies ?? Number.POSITIVE_INFINITY;
  const first = await syncInto(server, sink, { ...options, maxPages }).catch((error: Error) => {
    expect(error.message).toBe('killed');
    return null;
  });

  sink.dieAfter = Number.POSITIVE_INFINITY;
  most = Number.POSITIVE_INFINITY;
  now += 16 * hour - wrong;
  server.records = all.slice(0, 64);
  const { proof } = await syncInto(server, sink, options);
  return { isCut: first?.proof !== 'whole', proof, lost: server.records.length - sink.rows.size };
}

describe.each(['oldest', 'newest'] as const)('a sync that reads the %s calls first', (order) => {
  describe.each(Object.entries(ends))('and ended after some %s', (_, endAfter) => {
    test.each(Object.entries(clocks))(
      'by a clock that was %s: the next run has all calls made since',
      async (_, wrong) => {
        for (let at = 1, isCut = true; isCut; at += 1) {
          const { isCut: wasCut, ...found } = await runAfter(endAfter(at), order, wrong);
          expect({ at, ...found }).toEqual({ at, proof: 'whole', lost: 0 });
          isCut = wasCut;
        }
      },
    );
  });
});

test('a run reads again what one that was killed had read and may have changed since', async () => {
  const server = new FakeServer(all.slice(0, 60));
  const sink = memoryStore();
  let now = start + 240 * hour;
  const options: SyncOptions = { ...settings, rows: 10, clock: { now: () => now } };
  sink.dieAfter = 7;
  await expect(syncInto(server, sink, options)).rejects.toThrow('killed');
  expect(sink.rows.size).toBe(60);
  sink.dieAfter = Number.POSITIVE_INFINITY;
  server.records = all
    .slice(0, 62)
    .map((record, i) => (i === 45 ? { ...record, note: 'x' } : record));
  now += 8 * hour;
  expect(await syncInto(server, sink, options)).toMatchObject({
    proof: 'whole',
    new: 2,
    changed: 1,
  });
});

test('a run reads again what one that was killed had read without a call that was refused', async () => {
  const server = new FakeServer(all.slice(0, 60));
  const sink = memoryStore();
  const options: SyncOptions = { ...settings, rows: 10, clock: { now: () => start + 240 * hour } };
  const refused = all[3]?.sid;
  const refusing: UpsertSink = {
    load: sink.load,
    async commit(batch) {
      const calls = batch.calls.filter(({ sid }) => sid !== refused);
      const count = batch.calls.length - calls.length;
      const state = count === 0 ? batch.state : batch.stateWithout(count);
      return { ...(await sink.commit({ ...batch, calls, state })), refused: count };
    },
  };
  sink.dieAfter = 4;
  await expect(syncInto(server, refusing, options)).rejects.toThrow('killed');
  sink.dieAfter = Number.POSITIVE_INFINITY;
  expect(await syncInto(server, sink, options)).toMatchObject({ proof: 'whole', proved: 60 });
  expect(sink.rows.size).toBe(60);
});

test('a run whose counts fail does not call the copy whole, and the next one finds what came late', async () => {
  let fails = false;
  const server = new FakeServer(all.slice(0, 60), {
    before({ rows }) {
      if (fails && rows === 1) throw new Error('connection lost');
    },
  });
  const sink = memoryStore();
  const clock = { now: () => start + 240 * hour };
  const options: SyncOptions = { lookback: '1s', settle: '1s', rows: 10, clock };
  expect(await syncInto(server, sink, options)).toMatchObject({ proof: 'whole' });
  server.records.push({ sid: 'late', date_added: '2026-01-02 00:00:00' });
  fails = true;
  expect(await syncInto(server, sink, options)).toMatchObject({
    proof: 'unproven',
    gaps: [{ why: 'uncounted' }],
  });
  fails = false;
  expect(await syncInto(server, sink, options)).toMatchObject({ proof: 'whole', new: 1 });
});

test('what lies at the end of a stretch is counted once, also where a clock takes it for the future', async () => {
  for (let dies = 1; dies <= 6; dies += 1) {
    const server = new FakeServer(all.slice(0, 60));
    const sink = memoryStore();
    let now = start + 240 * hour;
    const options: SyncOptions = {
      lookback: '1s',
      settle: '1s',
      rows: 10,
      clock: { now: () => now },
    };
    const until = (call: number) => `date_added:[* TO ${all[call]?.date_added}]`;
    await syncInto(server, sink, { ...options, filter: until(20) });

    // The clock is set back, and the run is killed.
    now -= 5 * day;
    sink.dieAfter = dies;
    await syncInto(server, sink, { ...options, filter: until(40) }).catch(() => null);
    sink.dieAfter = Number.POSITIVE_INFINITY;
    now += 5 * day + 1000;
    server.records.push({ sid: 'late', date_added: '2026-01-02 01:00:00' });
    expect(await syncInto(server, sink, options)).toMatchObject({ proof: 'whole' });
    expect({ dies, held: sink.rows.size }).toEqual({ dies, held: 61 });
  }
});

test('a filter that is half read does not count as covered by what was read before, whatever the clock says', async () => {
  const records = all.slice(0, 60).map((record) => ({ ...record, talk_minutes: '2.0' }));
  const server = new FakeServer(records);
  const sink = memoryStore();
  let now = start + 240 * hour;
  const options: SyncOptions = { ...settings, rows: 10, clock: { now: () => now } };
  await syncInto(server, sink, { ...options, filter: 'inc_gce:1' });

  // The clock is set back, and a run with another filter finds calls that came since.
  now -= 30 * day;
  server.records = all.slice(0, 80).map((record) => ({ ...record, talk_minutes: '2.0' }));
  const half = { ...options, filter: 'talk_minutes:[1 TO *]', maxPages: 3 };
  expect(await syncInto(server, sink, half)).toMatchObject({ proof: 'unproven' });
  expect(copyVerdict(await sink.load())).toMatchObject({ proof: 'unproven' });
});

interface OldState {
  readonly state: SyncState | null;
  readonly sids: readonly string[];
}

// States of a sync of 240 calls an hour apart, as commit 91200a88 wrote them.
const fixture = new URL('fixtures/states-of-91200a88.json', import.meta.url);
const oldStates = JSON.parse(await readFile(fixture, 'utf8')) as Record<string, OldState>;

/** Continues such a state when there are so many calls. Returns how many pages it has read. */
async function continued({ state, sids }: OldState, count: number): Promise<number> {
  const calls = fakeRecords(count, () => 3600);
  const server = new FakeServer(calls);
  const sink = memoryStore(1, state);
  for (const call of calls) if (sids.includes(call.sid)) sink.rows.set(call.sid, call as never);
  const options = { ...settings, rows: 20, clock: { now: () => start + count * hour } };
  expect(await syncInto(server, sink, options)).toMatchObject({ proof: 'whole', proved: count });
  expect(sink.rows.size).toBe(count);
  return server.requests.filter(({ rows }) => rows > 1).length;
}

test.each(Object.entries(oldStates))(
  'after a run of 91200a88 the next one has all calls made since: %s',
  async (_, old) => {
    await continued(old, 480);
  },
);

test.each(['it was killed after the newest calls', 'it ended by maxPages', 'it came to its end'])(
  'after a run of 91200a88 the next one goes on where it was: %s',
  async (name) => {
    const nothing = { state: null, sids: [] };
    expect(await continued(oldStates[name] ?? nothing, 241)).toBeLessThan(
      await continued(nothing, 241),
    );
  },
);
