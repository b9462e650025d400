import { hour, parseNaive } from '@call-attribution/core/time';
import { describe, expect, test } from 'vitest';
import { createCallStream } from '../src/calls/call-stream.ts';
import type { StreamOptions } from '../src/calls/options.ts';
import type { Checkpoint } from '../src/reader/checkpoint.ts';
import { describeVerdict } from '../src/reader/verdict.ts';
import { syncInto } from '../src/sync/sync.ts';
import type { SyncState } from '../src/sync/sync-state.ts';
import { FakeServer, fakeRecords } from './fake-server.ts';

const settled = 14 * hour;
const now = () => Date.UTC(2026, 5, 1);

async function read(server: FakeServer, options: StreamOptions = {}) {
  const stream = createCallStream(server, { clock: { now }, rows: 100, ...options });
  const sids = (await stream.toArray()).map(({ sid }) => sid);
  return { sids, verdict: await stream.verdict, checkpoint: stream.checkpoint() };
}

const isRecount = ({ rows }: { rows: number }) => rows === 1;

describe('the count at the end', () => {
  test('it costs one request and proves the sum of the slices', async () => {
    const server = new FakeServer(fakeRecords(1000));
    const { verdict } = await read(server);
    expect(verdict).toMatchObject({ proof: 'whole', reasons: [], recount: { expected: 1000, read: 1000 } });
    expect(server.requests.filter(isRecount).length).toBeLessThanOrEqual(2);
    expect(isRecount(server.requests.at(-1) as { rows: number })).toBe(true);
  });

  test('it finds calls that are missing because a server leaves out the first second of a range', async () => {
    const server = new FakeServer(fakeRecords(5000, () => 1));
    const { fetchPage } = server;
    server.fetchPage = (query = {}) => {
      const { clauses } = query.filter as { clauses: readonly object[] };
      const misread = clauses.map((clause) => {
        const { lower } = clause as { lower?: object | null };
        return lower ? { ...clause, lower: { ...lower, inclusive: false } } : clause;
      });
      return fetchPage.call(server, { ...query, filter: { clauses: misread } as never });
    };
    const { sids, verdict } = await read(server, { rows: 1000 });
    expect(sids.length).toBeLessThan(5000);
    const count = 5000 - sids.length;
    expect(verdict).toMatchObject({ proof: 'short', reasons: [{ code: 'count_rose', count }] });
    expect(describeVerdict(verdict)).toMatch(
      `at the end the server counts 5,000 before 2026-05-31 10:00:00, of which ${count} calls are missing here`,
    );
  });

  test('it finds calls that a replica did not have yet', async () => {
    const server = new FakeServer(fakeRecords(5000, () => 1));
    const all = server.records;
    let responses = 0;
    server.behaviour.before = (request) => {
      responses += 1;
      server.records = responses % 3 === 0 && !isRecount(request) ? all.filter((_, i) => i % 50 > 0) : all;
    };
    const { sids, verdict } = await read(server, { rows: 1000 });
    expect(verdict).toMatchObject({ proof: 'short', recount: { expected: 5000, read: sids.length } });
  });

  test('it finds a call that came into a slice that had been read', async () => {
    const server = new FakeServer(fakeRecords(1000));
    server.behaviour.before = (_, { records, requests }) => {
      if (requests.length === 8) records.push({ sid: 'late', date_added: '2026-01-01 00:00:30' });
    };
    const { sids, verdict } = await read(server);
    expect(sids).not.toContain('late');
    expect(verdict).toMatchObject({ proof: 'short', reasons: [{ code: 'count_rose', count: 1 }] });
  });

  test('calls that were removed do not hide as many that came late elsewhere', async () => {
    const server = new FakeServer(fakeRecords(1000, () => 60));
    server.behaviour.before = (_, { records, requests }) => {
      if (requests.length !== 170) return;
      records.splice(0, 5);
      const late = Array.from({ length: 5 }, (_, i) => ({
        sid: `late${i}`,
        date_added: `2026-01-01 09:00:0${i}`,
      }));
      records.splice(
        records.findIndex(({ date_added }) => date_added > '2026-01-01 09:00:00'),
        0,
        ...late,
      );
    };
    const { sids, verdict } = await read(server, { rows: 5 });
    expect(sids.filter((sid) => sid.startsWith('late'))).toEqual([]);
    expect(verdict).toMatchObject({
      proof: 'short',
      reasons: [
        { code: 'count_rose', count: 5 },
        { code: 'count_fell', count: 5 },
      ],
      recount: { expected: 1000, read: 1000 },
    });
    expect(verdict.recount?.differences).toHaveLength(2);
    expect(describeVerdict(verdict)).toMatch(
      /of which 5 calls are missing here between 2026-01-01 0\d:\d\d:\d\d and 2026-01-01 \d\d:\d\d:\d\d: read again/,
    );
    expect(server.requests.slice(-6).filter(isRecount)).toHaveLength(6);
  });

  test.each(['in one run', 'over a resume'])('a total that falls is a reason, %s', async (runs) => {
    const server = new FakeServer(fakeRecords(5000, () => 1));
    const all = server.records;
    server.behaviour.before = () => {
      server.records =
        server.requests.length === 0 || server.requests.length === 1 ? all : all.slice(0, 4900);
    };
    const options: StreamOptions = { rows: 500 };
    if (runs === 'over a resume') {
      const first = createCallStream(server, { clock: { now }, ...options });
      let count = 0;
      for await (const _ of first) if (++count === 1200) break;
      options.checkpoint = JSON.parse(JSON.stringify(first.checkpoint()));
    }
    const { verdict } = await read(server, options);
    expect(verdict).toMatchObject({
      proof: 'unproven',
      reasons: [{ code: 'total_fell', count: 100 }],
      recount: { expected: 4900, read: 4900, differences: [] },
    });
    expect(describeVerdict(verdict)).toMatch(
      'the server counted 100 calls more before than it then gave, so calls were removed or are missing',
    );
  });

  test('less than was read is reported too', async () => {
    const server = new FakeServer(fakeRecords(1000));
    server.behaviour.before = (_, { records, requests }) => {
      if (requests.length === 8) records.shift();
    };
    const { verdict } = await read(server);
    expect(verdict).toMatchObject({ proof: 'unproven', reasons: [{ code: 'count_fell', count: 1 }] });
    expect(describeVerdict(verdict)).toMatch(
      /^UNPROVEN: 1,000 calls; at the end the server counts 999 before/,
    );
  });

  test('it covers only what lies safely in the past, and says so', async () => {
    const server = new FakeServer(fakeRecords(1000, () => 60));
    const sealedBefore = '2026-01-01 08:20:00';
    const { verdict } = await read(server, { clock: { now: () => parseNaive(sealedBefore) + settled } });
    expect(verdict).toMatchObject({
      proof: 'whole',
      recount: { before: sealedBefore, expected: 500, read: 500 },
    });
    expect(describeVerdict(verdict)).toBe(
      'complete: 1,000 calls, as many as the server counts; counted up to 2026-01-01 08:20:00, later calls may follow',
    );
  });

  test('a query of recent calls is not counted again', async () => {
    const server = new FakeServer(fakeRecords(1000));
    const clock = { now: () => parseNaive('2026-01-01 00:00:00') + settled - 1000 };
    const { verdict } = await read(server, { clock });
    expect(verdict).toMatchObject({ proof: 'whole', recount: { expected: 0, read: 0 } });
    const filter = 'date_added:[2026-01-01 00:00:00 TO *]';
    const bounded = await read(server, { filter, clock });
    expect(bounded.verdict).toMatchObject({ proof: 'whole', recount: null });
  });

  test('a read of one slice is not counted again, since its page carries the total of everything', async () => {
    const server = new FakeServer(fakeRecords(50));
    expect((await read(server)).verdict).toMatchObject({ proof: 'whole', recount: null });
    expect(server.requests).toHaveLength(1);
  });

  test('a server that fails then leaves the read unproven', async () => {
    const server = new FakeServer(fakeRecords(1000));
    server.behaviour.before = (request) => {
      if (isRecount(request) && server.requests.length > 5) throw new Error('503');
    };
    const { sids, verdict } = await read(server);
    expect(sids).toHaveLength(1000);
    expect(verdict).toMatchObject({
      proof: 'unproven',
      reasons: [{ code: 'recount_failed', count: null }],
    });
  });

  test('it holds over a resume, also for what earlier runs read', async () => {
    const server = new FakeServer(fakeRecords(1000));
    const first = createCallStream(server, { clock: { now }, rows: 100 });
    let count = 0;
    for await (const _ of first) if (++count === 555) break;
    expect(await first.verdict).toMatchObject({ proof: 'unproven', reasons: [{ code: 'left_early' }] });
    const checkpoint = JSON.parse(JSON.stringify(first.checkpoint())) as Checkpoint;
    // Much later: more is settled by then, but only what the first run counted to is compared.
    const later = () => Date.UTC(2026, 8, 1);
    const whole = await read(server, { checkpoint, clock: { now: later } });
    expect(whole.verdict).toMatchObject({ proof: 'whole', recount: { expected: 1000, read: 1000 } });
    server.records.push({ sid: 'late', date_added: '2026-01-01 00:00:30' });
    const short = await read(server, { checkpoint, clock: { now: later } });
    expect(short.verdict).toMatchObject({ proof: 'short', reasons: [{ code: 'count_rose', count: 1 }] });
  });

  test('a sync reads it again, and is whole', async () => {
    const server = new FakeServer(fakeRecords(1000));
    server.behaviour.before = (_, { records, requests }) => {
      if (requests.length === 8) records.push({ sid: 'late', date_added: '2026-01-01 00:00:30' });
    };
    let state: SyncState | null = null;
    const sids = new Set<string>();
    const sink = {
      load: async () => state,
      commit: async (batch: { calls: readonly { sid: string }[]; state: SyncState }) => {
        for (const { sid } of batch.calls) sids.add(sid);
        state = batch.state;
      },
    };
    const options = { clock: { now }, rows: 100 };
    expect(await syncInto(server, sink, options)).toMatchObject({ new: 1001, proof: 'whole', reasons: [] });
    expect(sids.size).toBe(1001);
  });
});

describe('a call that changes while its slice is read', () => {
  const moving = () => {
    const server = new FakeServer(fakeRecords(700, () => 0));
    let isDone = false;
    server.behaviour.before = ({ page }) => {
      if (isDone || page !== 1) return;
      isDone = true;
      server.records[5] = { ...(server.records[5] as { sid: string; date_added: string }), note: 'later' };
      server.records.push({ sid: 'a', date_added: '2026-01-01 00:00:00' });
    };
    return server;
  };

  test('it comes again by default, and the verdict says so', async () => {
    const { sids, verdict } = await read(moving());
    expect(new Set(sids).size).toBe(701);
    expect(verdict).toMatchObject({ proof: 'whole', total: 701, delivered: 702, changed: 1, surplus: 1 });
    expect(describeVerdict(verdict)).toBe(
      'complete: 702 calls; 1 more than the server counts, since calls were changed or removed while they were read; ' +
        'dropped 99 duplicates; 1 call changed in the meantime; reread 1 slice; ' +
        'counted up to 2026-05-31 10:00:00, later calls may follow',
    );
  });

  test('it comes once where a file needs one line for each call', async () => {
    const { sids, verdict } = await read(moving(), { onChange: 'keep' });
    expect(sids).toHaveLength(701);
    expect(new Set(sids).size).toBe(701);
    expect(verdict).toMatchObject({ proof: 'whole', total: 701, delivered: 701, changed: 1, surplus: 0 });
  });
});

test('a verdict counts what was skipped, set aside, changed and read again in all runs', async () => {
  const server = new FakeServer(fakeRecords(300));
  const { fetchPage } = server;
  server.fetchPage = async (query) => {
    const page = await fetchPage.call(server, query);
    const record = (i: number) => {
      const call = page.record(i);
      if (call.sid === 's0000010') throw new Error('talk_minutes is not a number');
      return call;
    };
    return { ...page, record };
  };
  const first = createCallStream(server, { clock: { now }, rows: 30, onError: () => {}, highWaterMark: 1 });
  let count = 0;
  for await (const _ of first) if (++count === 100) break;
  const checkpoint = first.checkpoint();
  expect(checkpoint).toMatchObject({ setAside: 1 });
  const { verdict } = await read(server, { checkpoint, rows: 30 });
  expect(verdict).toMatchObject({ proof: 'whole', skipped: 1, deliveredBefore: 100, delivered: 199 });
  expect(describeVerdict(verdict)).toMatch(
    /^complete: 299 calls written and 1 record set aside, together as many as the server counts/,
  );
});
