import { describe, expect, test, vi } from 'vitest';
import { createCallStream } from '../src/read.ts';
import { copyVerdict } from '../src/sync/copy-verdict.ts';
import type { SyncOptions } from '../src/sync/plan.ts';
import { memoryState, type StateStore } from '../src/sync/state.ts';
import { syncCalls, syncInto } from '../src/sync/sync.ts';
import { describe as inWords } from '../src/verdict.ts';
import { breaking, doubling, type FakeRecord, FakeServer, fakeRecords } from './fake-server.ts';
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

    // A run begins a lookback before the latest call, or up to a page earlier.
    expect(only(again, 'same').slice(-25)).toEqual(server.records.slice(-25).map(({ sid }) => sid));
    expect(Object.keys(again).length).toBeLessThanOrEqual(25 + 20);
    expect(only(again, 'same')).toHaveLength(Object.keys(again).length);
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
    const server = new FakeServer([
      ...fakeRecords(50),
      { sid: 'clock', date_added: '2099-01-01 00:00:00' },
    ]);
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

    // The rest is the end that is read again by each run, and what lies at borders.
    expect(only(earlier, 'same').length).toBeLessThanOrEqual(25 + 20);
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
    expect(Object.keys(longer)).toEqual(
      expect.arrayContaining(all.slice(6, 12).map(({ sid }) => sid)),
    );
    expect(only(longer, 'new')).toEqual(
      expect.arrayContaining(all.slice(78, 80).map(({ sid }) => sid)),
    );

    // A run that is interrupted ends as it began.
    server.records = all.slice(0, 100);
    const moving = { ...options, rows: 5, state, period: { ...last(12, 100), to: at(95) } };
    for await (const { kind } of syncCalls(server, moving)) if (kind === 'new') break;
    server.records = all;
    const rest = await kinds(server, state, { rows: 5, period: { ...last(12, 119), to: at(118) } });
    expect(only(rest, 'new')).toEqual(
      expect.arrayContaining(all.slice(80, 118).map(({ sid }) => sid)),
    );
  });
});

describe('syncInto', () => {
  test('the store ends with the records of the server, whenever a run dies', () =>
    syncsThroughCrashes(runs));

  test('it reports what it did', async () => {
    const server = new FakeServer(fakeRecords(60, () => 3600));
    const sink = memoryStore();
    expect(await syncInto(server, sink, options)).toMatchObject({
      new: 60,
      changed: 0,
      same: 0,
      latest: '2026-01-03 11:00:00',
      proof: 'whole',
      proved: 60,
      missing: 0,
      gaps: [],
    });
    server.records[59] = { ...(server.records[59] as FakeRecord), note: 'x' };
    expect(await syncInto(server, sink, options)).toMatchObject({ new: 0, changed: 1 });
  });

  test('its state is small however many calls there are, and names none of them', async () => {
    for (const lookback of ['1h', '9d'] as const) {
      const server = new FakeServer(fakeRecords(3000, () => 3600));
      const sink = memoryStore();
      await syncInto(server, sink, { ...options, lookback });
      await syncInto(server, sink, { ...options, lookback });
      const text = JSON.stringify(await sink.load());
      expect(text.length).toBeLessThan(16_000);
      expect(text).not.toMatch(/s0\d{6}|seen/);
    }
  });

  const openRecords = (count: number) =>
    fakeRecords(count, () => 600).map((record) => ({
      ...record,
      ppc_status: 'Waiting For Keyword',
    }));

  test('calls that are not final are read again with the stretches they lie in, until they are final or too old', async () => {
    const server = new FakeServer(openRecords(1500));
    const sink = memoryStore();
    const more = { ...options, rows: 1000, lookback: '1h', settle: '30d' } as const;
    expect(await syncInto(server, sink, more)).toMatchObject({ new: 1500, pending: 1500 });
    server.records = server.records.map((record) => ({ ...record, ppc_status: 'Processed' }));
    server.requests.length = 0;
    expect(await syncInto(server, sink, more)).toMatchObject({
      changed: 1500,
      pending: 0,
      proof: 'whole',
    });
    expect(server.requests.length).toBeLessThanOrEqual(5);
    server.requests.length = 0;
    expect(await syncInto(server, sink, more)).toMatchObject({ new: 0, changed: 0 });
    expect(server.requests.length).toBeLessThanOrEqual(2);

    // Ten days of them, of which two are not too old.
    const old = memoryStore();
    const late = { ...more, settle: '2d' } as const;
    server.records = openRecords(1500);
    const { pending } = await syncInto(server, old, { ...late, rows: 100 });
    expect(pending).toBeGreaterThanOrEqual(288);
    expect(pending).toBeLessThan(288 + 100);
  });

  test('what was read long before the run came to its end is read again by the next one', async () => {
    const all = fakeRecords(400, () => 3600);
    const server = new FakeServer(all.slice(0, 200));
    const sink = memoryStore();
    let at = Date.UTC(2026, 0, 9, 9);
    const more = { ...options, clock: { now: () => at } } as const;
    await syncInto(server, sink, { ...more, maxPages: 11 });
    const read = [...sink.rows.keys()].sort();
    const changed = read.at(-3) ?? '';
    expect(read.length).toBeGreaterThan(180);
    expect(read.length).toBeLessThan(200);

    // It changes while the rest is still to come, which takes some days.
    server.records = all.map((record) =>
      record.sid === changed ? { ...record, note: 'later' } : record,
    );
    at += 200 * 3_600_000;
    await syncInto(server, sink, more);
    await syncInto(server, sink, more);
    expect(sink.rows.get(changed)).toMatchObject({ note: 'later' });
  });

  test('a copy of an account without calls gets the first ones', async () => {
    const server = new FakeServer([]);
    const sink = memoryStore();
    expect(await syncInto(server, sink, options)).toMatchObject({
      new: 0,
      latest: null,
      proof: 'whole',
    });
    server.records = fakeRecords(3, () => 60, '2026-05-31 23:00:00');
    expect(await syncInto(server, sink, options)).toMatchObject({ new: 3, proof: 'whole' });
  });

  test.each(['oldest', 'newest'] as const)(
    'a round takes a list and a count, %s first',
    async (order) => {
      const server = new FakeServer(fakeRecords(2000, () => 3600));
      const sink = memoryStore();
      await syncInto(server, sink, { ...options, rows: 1000, order });
      for (let round = 0; round < 3; round += 1) {
        server.requests.length = 0;
        expect(await syncInto(server, sink, { ...options, rows: 1000, order })).toMatchObject({
          proof: 'whole',
          new: 0,
        });
        expect(server.requests.map(({ rows }) => rows)).toEqual([1000, 1]);
      }
    },
  );

  test.each([
    ['{2026-01-01 01:00:00 TO 2026-01-01 02:00:00}', 59],
    ['[2026-01-01 01:00:00 TO 2026-01-01 02:00:00]', 61],
  ])(
    'what lies at an end that %s leaves out is there once an end is part of it',
    async (range, count) => {
      const server = new FakeServer(fakeRecords(200));
      const sink = memoryStore();
      await syncInto(server, sink, { ...options, filter: `date_added:${range}` });
      expect(sink.rows.size).toBe(count);
      const wider = {
        ...options,
        filter: 'date_added:[2026-01-01 01:00:00 TO 2026-01-01 02:00:00]',
      };
      expect(await syncInto(server, sink, wider)).toMatchObject({ proof: 'whole' });
      expect(sink.rows.size).toBe(61);
    },
  );

  test('in v2, where no call has a status, all are read again for 30 days', async () => {
    const server = Object.assign(new FakeServer(fakeRecords(300, () => 4 * 3600)), {
      version: 'v2' as const,
    });
    const sink = memoryStore();
    const more = { ...options, settle: '30d' } as const;
    await syncInto(server, sink, more);
    const at = 300 - 6 * 29;
    server.records[at] = { ...(server.records[at] as FakeRecord), note: 'later' };
    expect(await syncInto(server, sink, more)).toMatchObject({ changed: 1 });
  });

  test('calls of another account are refused, in the same run or a later one', async () => {
    const of = (account: string) => (record: FakeRecord) => ({ ...record, acct_id: account });
    const server = new FakeServer(fakeRecords(50).map(of('1')));
    const sink = memoryStore();
    await syncInto(server, sink, options);
    expect((await sink.load())?.account).toBe('1');
    server.records = fakeRecords(60).map(of('2'));
    await expect(syncInto(server, sink, options)).rejects.toMatchObject({ code: 'other_account' });
    expect([...sink.rows.values()].every(({ acct_id }) => acct_id === '1')).toBe(true);
  });

  /** Its first answer counts 100 calls more than all later ones. */
  const countingMore = () => {
    let answers = 0;
    const server = new FakeServer(
      fakeRecords(200, () => 36_000),
      {
        after: (page) => ({ ...page, total: (page.total ?? 0) + (answers++ === 0 ? 100 : 0) }),
      },
    );
    return server;
  };

  test.each(['oldest', 'newest'] as const)(
    'a first answer that counts more than all later ones: the copy is unproven, as an export, %s first',
    async (order) => {
      const server = countingMore();
      const sink = memoryStore();
      const stream = createCallStream(countingMore(), { rows: 20 });
      for await (const _ of stream);
      expect(stream.verdict()).toMatchObject({ proof: 'unproven' });
      expect(await syncInto(server, sink, { ...options, order })).toMatchObject({
        proof: 'unproven',
        gaps: [{ why: 'fell', missing: 100 }],
      });
      expect(copyVerdict(await sink.load())).toMatchObject({ proof: 'unproven' });

      // The next run counts all of it again.
      expect(await syncInto(server, sink, { ...options, order })).toMatchObject({
        proof: 'whole',
        proved: 200,
      });
    },
  );

  test('a run that is interrupted remembers what the first answer counted', async () => {
    const server = countingMore();
    const sink = memoryStore();
    await syncInto(server, sink, { ...options, maxPages: 3 });
    expect(await syncInto(server, sink, options)).toMatchObject({
      proof: 'unproven',
      missing: 100,
    });
  });

  test('a row that comes twice does not end it: each call is kept once, and the verdict names them', async () => {
    const sink = memoryStore();
    const summary = await syncInto(doubling(fakeRecords(50), 's0000007'), sink, {
      ...options,
      rows: 100,
    });
    expect(summary).toMatchObject({
      new: 50,
      proof: 'short',
      gaps: [{ why: 'doubled', sids: ['s0000007'] }],
    });
    expect(sink.rows.get('s0000007')).toMatchObject({ note: 'twice' });
  });

  test('a call that comes at two times is named, also where the newest are read first', async () => {
    const records = fakeRecords(400, () => 6 * 3600);
    const twin = {
      ...(records[20] as FakeRecord),
      date_added: (records[390] as FakeRecord).date_added,
    };
    const server = new FakeServer([...records, twin]);
    const clock = { now: () => Date.UTC(2026, 3, 12) };
    for (const order of ['oldest', 'newest'] as const) {
      const summary = await syncInto(server, memoryStore(), { ...options, clock, order });
      expect(summary).toMatchObject({
        new: 400,
        proof: 'short',
        gaps: [{ why: 'doubled', sids: [twin.sid] }],
      });
    }
  });

  test('what cannot be parsed is left out, and read again by the next run', async () => {
    const server = breaking(fakeRecords(50), 's0000003');
    const sink = memoryStore();
    await expect(syncInto(server, sink, { ...options, rows: 100 })).rejects.toThrow(
      'is not a number',
    );
    const onError = vi.fn();
    expect(await syncInto(server, sink, { ...options, rows: 100, onError })).toMatchObject({
      new: 49,
      skipped: 1,
      proof: 'short',
      missing: 1,
    });
    expect(onError).toHaveBeenCalledOnce();
    const mended = new FakeServer(server.records);
    expect(await syncInto(mended, sink, { ...options, rows: 100 })).toMatchObject({
      new: 1,
      proof: 'whole',
    });
  });

  test('the period that comes first is read before all others, and is whole before the rest is read', async () => {
    const server = new FakeServer(fakeRecords(400, () => 6 * 3600));
    const sink = memoryStore();
    const first = { from: '2026-02-01 00:00:00', to: '2026-02-15 00:00:00' };
    await syncInto(server, sink, { ...options, order: 'newest', first, maxPages: 8 });
    const inside = server.records.filter(
      ({ date_added }) => date_added >= first.from && date_added < first.to,
    );
    expect(inside.every(({ sid }) => sink.rows.has(sid))).toBe(true);
    expect(sink.rows.size).toBeLessThan(200);
    const gaps = copyVerdict(await sink.load(), first)?.gaps ?? [];
    expect(gaps.map(({ why }) => why)).not.toContain('unread');
    expect(await syncInto(server, sink, { ...options, order: 'newest' })).toMatchObject({
      proof: 'whole',
      proved: 400,
    });
  });

  test('the filters that a copy was filled with are known, and of which time', async () => {
    const server = new FakeServer(fakeRecords(40, () => 6 * 3600));
    const sink = memoryStore();
    const scope = async (...period: Parameters<typeof copyVerdict>[1][]) => {
      const verdict = copyVerdict(await sink.load(), ...period);
      return verdict && inWords(verdict).scope;
    };
    const fill = (filter: string) => syncInto(server, sink, { ...options, filter });

    expect(await fill('talk_minutes:[5 TO *],inc_gce:1')).toMatchObject({
      only: [{ filter: 'talk_minutes:[5 TO *]', from: null, to: null }],
    });
    expect(await scope()).toBe('only calls with talk_minutes:[5 TO *]');
    await fill('talk_minutes:[* TO 1]');
    expect(await scope()).toBe(
      'only calls with talk_minutes:[5 TO *], or with talk_minutes:[* TO 1]',
    );
    await fill('date_added:[2026-01-05 00:00:00 TO *],inc_gce:1');
    expect(await scope()).toBe(
      'until 2026-01-05 00:00:00 only calls with talk_minutes:[5 TO *], or with talk_minutes:[* TO 1]',
    );
    expect(await scope({ from: '2026-01-06 00:00:00', to: null })).toBe(null);
    await fill('inc_gce:1');
    expect(await scope()).toBe(null);
  });

  test('a run that is stopped keeps every page that has arrived, also those that do not come next', async () => {
    const stop = new AbortController();
    let asked = 0;
    const server = new FakeServer(
      fakeRecords(400, () => 600),
      {
        delay: async ({ signal }) => {
          asked += 1;

          // The tenth request hangs; the ones behind it arrive.
          if (asked !== 10) return;
          setTimeout(() => stop.abort(new Error('stopped')), 50);
          await new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          );
        },
      },
    );
    const sink = memoryStore();
    const began = syncInto(server, sink, { ...options, signal: stop.signal });
    await expect(began).rejects.toThrow('stopped');
    const dates = [...sink.rows.values()].map(({ date_added }) => date_added).sort();
    const first = server.records.findIndex(({ sid }) => !sink.rows.has(sid));
    expect((dates.at(-1) ?? '') > (server.records[first] as FakeRecord).date_added).toBe(true);
    server.requests.length = 0;
    expect(await syncInto(server, sink, options)).toMatchObject({ proof: 'whole', proved: 400 });
  });
});

describe('the state', () => {
  test('it is plain JSON', async () => {
    const server = new FakeServer(fakeRecords(30));
    let text = 'null';
    const state: StateStore = {
      load: async () => JSON.parse(text),
      save: async (next) => {
        text = JSON.stringify(next);
      },
    };
    await kinds(server, state);
    expect(only(await kinds(server, state), 'same')).toHaveLength(30);
    expect(JSON.parse(text)).toMatchObject({
      version: 2,
      parts: [{ stretches: expect.arrayContaining([expect.objectContaining({ is: 'proved' })]) }],
    });
  });

  test.each([
    { version: 1 },
    { version: 2, parts: [null] },
    { version: 2, parts: [{ asked: [], firsts: [], stretches: [{ from: 'soon', to: null }] }] },
    'text',
    7,
  ])('what is none is refused: %j', async (given) => {
    const state = memoryState(given as never);
    await expect(kinds(new FakeServer([]), state)).rejects.toMatchObject({
      code: 'checkpoint_invalid',
    });
  });
});
