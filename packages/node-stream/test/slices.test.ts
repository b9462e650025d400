import { hour, parseNaive } from '@call-attribution/core/time';
import { type Bound, type Filter, matcher, printFilter } from '@call-attribution/query-dsl';
import { describe, expect, test } from 'vitest';
import { createCallStream } from '../src/calls/call-stream.ts';
import type { StreamOptions } from '../src/calls/options.ts';
import { sliceFilter } from '../src/calls/window-query.ts';
import { byTime, type FakeBehaviour, type FakeRecord, FakeServer, fakeRecords } from './fake-server.ts';

const now = () => Date.UTC(2026, 5, 1);

async function read(records: FakeRecord[], options: StreamOptions = {}, behaviour: FakeBehaviour = {}) {
  const server = new FakeServer(records, behaviour);
  const stream = createCallStream(server, { clock: { now }, rows: 50, ...options });
  const slices: { from: string | null; to: string | null; records: number }[] = [];
  stream.on('slice', (slice) => slices.push(slice));
  const sids = (await stream.toArray()).map((call: { sid: string }) => call.sid);
  return {
    server,
    sids,
    slices,
    verdict: await stream.verdict,
    filters: server.requests.map(({ filter }) => printFilter(filter)),
  };
}

const newestFirst = (a: FakeRecord, b: FakeRecord) => byTime(b, a);
const scattered = (a: FakeRecord, b: FakeRecord) =>
  ((Number(a.sid.slice(1)) * 7919) % 1009) - ((Number(b.sid.slice(1)) * 7919) % 1009);
/** Calls as an office gets them: many by day, few by night, none on some days. */
const office = fakeRecords(4000, (i) =>
  i % 400 === 0 ? 86_400 * 2 : i % 40 === 0 ? 36_000 : 30 + (i % 7) * 100,
);
/** Nothing for years, then a burst, then a lone call. */
const burst = [
  ...fakeRecords(1000, () => 2, '2025-12-24 10:00:00'),
  { sid: 'z', date_added: '2026-03-01 00:00:00' },
];

describe('slices', () => {
  test.each([
    ['an even flow', fakeRecords(4000), byTime, 1.45],
    ['an even flow, newest first', fakeRecords(4000), newestFirst, 1.6],
    ['an even flow in no order', fakeRecords(4000), scattered, 1.6],
    ['days and nights', office, byTime, 2.2],
    ['days and nights, newest first', office, newestFirst, 2.6],
    ['a burst after years of nothing', burst, byTime, 2.3],
    ['a burst after years of nothing, newest first', burst, newestFirst, 4],
    ['a burst after years of nothing, in no order', burst, scattered, 2.6],
  ])('%s needs a bounded number of requests for each page of records', async (_, records, order, limit) => {
    const { server, sids, verdict } = await read(records, {}, { order });
    expect([...sids].sort()).toEqual(records.map(({ sid }) => sid).sort());
    expect(verdict.proof).toBe('whole');
    expect(server.requests.length / Math.ceil(records.length / 50)).toBeLessThan(limit);
  });

  test('they cover the whole query without a gap, in order of time, each within one page', async () => {
    const { slices } = await read(office);
    expect(slices[0]?.from).toBeNull();
    expect(slices.at(-1)?.to).toBeNull();
    expect(slices.slice(1).map(({ from }) => from)).toEqual(slices.slice(0, -1).map(({ to }) => to));
    expect(Math.max(...slices.map(({ records }) => records))).toBeLessThanOrEqual(50);
  });

  test('they keep the bounds of the query as they were written', async () => {
    const { sids, filters } = await read(
      fakeRecords(500),
      {
        filter: 'talk_minutes:[* TO *],date_added:{2026-01-01 01:00:00 TO 2026-01-01 06:00:00]',
      },
      {},
    );
    expect(sids).toEqual([]);
    expect(filters).toHaveLength(1);
    const plain = await read(fakeRecords(500), {
      filter: 'date_added:{2026-01-01 01:00:00 TO 2026-01-01 06:00:00]',
    });
    expect(plain.sids).toEqual(
      fakeRecords(500)
        .slice(61, 361)
        .map(({ sid }) => sid),
    );
    expect(plain.filters.at(-1)).toMatch(/ TO 2026-01-01 06:00:00\]$/);
    expect(plain.filters.some((filter) => filter.startsWith('date_added:{2026-01-01 01:00:00 TO '))).toBe(
      true,
    );
  });

  test('they keep the other parts of the filter', async () => {
    const { filters } = await read(
      fakeRecords(500).map((record) => ({ ...record, talk_minutes: '2.0' })),
      { filter: 'inc_gce:1,talk_minutes:[1 TO *]' },
    );
    expect(filters.length).toBeGreaterThan(8);
    expect(
      filters.every((filter) => filter.includes('inc_gce:1') && filter.includes('talk_minutes:[1 TO *]')),
    ).toBe(true);
  });

  test('a second with more calls than a page is read page by page', async () => {
    const second = fakeRecords(130, () => 0);
    const { sids, verdict } = await read([
      ...fakeRecords(40, () => 60, '2025-12-31 00:00:00').map((record) => ({
        ...record,
        sid: `a${record.sid}`,
      })),
      ...second,
    ]);
    expect(sids).toHaveLength(170);
    expect(verdict).toMatchObject({ proof: 'whole', delivered: 170, total: 170 });
  });

  test('a server that ignores date_added ends the read', async () => {
    const server = new FakeServer(fakeRecords(200));
    const { fetchPage } = server;
    // As a server that does not know date_added would answer: the same list whatever the range.
    server.fetchPage = (query) => fetchPage.call(server, { ...query, filter: { clauses: [] } });
    await expect(createCallStream(server, { clock: { now }, rows: 50 }).toArray()).rejects.toMatchObject({
      code: 'range_ignored',
    });
  });

  test('a server that counts a call it does not have ends the read after a bounded number of requests', async () => {
    const server = new FakeServer(fakeRecords(200), {
      after: (page, { filter }) => {
        const holdsGhost = matcher(filter)({ date_added: '2026-01-01 02:00:30' });
        return { ...page, total: (page.total ?? 0) + (holdsGhost ? 1 : 0) };
      },
    });
    const stream = createCallStream(server, { clock: { now }, rows: 10 });
    await expect(stream.toArray()).rejects.toMatchObject({ code: 'incomplete' });
    expect(server.requests.length).toBeLessThan(150);
  });

  test.each([
    ['back', -3600],
    ['on', 3600],
  ])('a server whose clock was put %s is read completely, each call once', async (_, by) => {
    // The server keeps instants, shows them by its clock, and turns the bounds of a filter into instants.
    const change = Date.UTC(2026, 0, 1, 10);
    const naive = (millis: number) => new Date(millis).toISOString().slice(0, 19).replace('T', ' ');
    const millisOf = (time: string) => Date.parse(`${time.replace(' ', 'T')}Z`);
    const shown = (time: string) => (millisOf(time) < change ? time : naive(millisOf(time) + by * 1000));
    const instantOf = (time: string) =>
      millisOf(time) < change + Math.max(0, by) * 1000 ? time : naive(millisOf(time) - by * 1000);
    const server = new FakeServer(fakeRecords(1200), {
      after: (page) => ({
        ...page,
        records: page.records.map((record) => ({ ...record, date_added: shown(record.date_added) })),
      }),
    });
    const { fetchPage } = server;
    server.fetchPage = (query = {}) => {
      const { clauses } = query.filter as Filter;
      const turned = clauses.map((clause) => {
        if (clause.kind !== 'range') return clause;
        const [lower, upper] = [clause.lower, clause.upper].map(
          (bound) => bound && { ...bound, text: instantOf(bound.text) },
        ) as [Bound | null, Bound | null];
        return { ...clause, lower, upper };
      });
      return fetchPage.call(server, { ...query, filter: { clauses: turned } });
    };
    const stream = createCallStream(server, { clock: { now }, rows: 20 });
    const sids = (await stream.toArray()).map((call: { sid: string }) => call.sid);
    expect(sids).toHaveLength(1200);
    expect(new Set(sids).size).toBe(1200);
    expect(await stream.verdict).toMatchObject({ proof: 'whole' });
  });
});

describe('the upper end of a slice', () => {
  const records = fakeRecords(400, (i) => i % 3);
  const expected = records.map(({ sid }) => sid);

  test('it is excluded with } where the server supports it', async () => {
    const { sids, filters } = await read(records);
    expect(sids).toEqual(expected);
    expect(filters.some((filter) => filter.endsWith('}'))).toBe(true);
  });

  test.each(['refused', 'inclusive'] as const)(
    'it is the second before where the server has } %s',
    async (exclusive) => {
      const { sids, filters, verdict } = await read(records, {}, { exclusive });
      expect(sids).toEqual(expected);
      expect(verdict).toMatchObject({ proof: 'whole', duplicatesDropped: 0 });
      expect(filters.filter((filter) => /[{}]/.test(filter))).toHaveLength(1);
    },
  );

  test('the bound of the query itself is rewritten when the server refuses it', async () => {
    const filter = 'date_added:[2026-01-01 00:00:00 TO 2026-01-01 00:05:00}';
    const { sids, filters } = await read(records, { filter }, { exclusive: 'refused' });
    expect(sids).toEqual(
      records.filter(({ date_added }) => date_added < '2026-01-01 00:05:00').map(({ sid }) => sid),
    );
    expect(filters[1]).toBe('date_added:[2026-01-01 00:00:00 TO 2026-01-01 00:04:59]');
  });
});

describe('concurrency', () => {
  /** The most requests that were in flight at once, by whether they were for settled records. */
  async function atOnce(sealedBefore: string, prefetch: number) {
    const most = { sealed: 0, open: 0 };
    let inFlight = 0;
    await read(
      fakeRecords(2000),
      { prefetch, clock: { now: () => parseNaive(sealedBefore) + 14 * hour } },
      {
        async delay({ filter }) {
          inFlight += 1;
          const [range] = filter.clauses;
          const upper = range?.kind === 'range' ? range.upper?.text : undefined;
          const kind = upper !== undefined && upper <= sealedBefore ? 'sealed' : 'open';
          most[kind] = Math.max(most[kind], inFlight);
          await new Promise((resolve) => setTimeout(resolve, 1));
          inFlight -= 1;
        },
      },
    );
    return most;
  }

  test('prefetch bounds it where records are settled; where they may still appear there is none', async () => {
    const most = await atOnce('2026-01-01 20:00:00', 6);
    expect(most.sealed).toBeGreaterThan(3);
    expect(most.sealed).toBeLessThanOrEqual(7);
    expect(most.open).toBe(1);
  });

  test('it stays within the bytes that may be held', async () => {
    const records = fakeRecords(2000).map((record) => ({ ...record, note: 'x'.repeat(1000) }));
    const server = new FakeServer(records, { delay: () => new Promise((resolve) => setTimeout(resolve, 1)) });
    const stream = createCallStream(server, {
      clock: { now },
      rows: 50,
      prefetch: { pages: 50, bytes: 300_000 },
      highWaterMark: 1,
    });
    let seen = 0;
    let ahead = 0;
    for await (const _ of stream) {
      seen += 1;
      const asked = server.requests.length;
      ahead = Math.max(ahead, asked - seen / 40);
    }
    expect(seen).toBe(2000);
    expect(ahead).toBeLessThan(25);
  });

  test('it is low for a consumer that is slower than the server', async () => {
    const server = new FakeServer(fakeRecords(5000));
    const stream = createCallStream(server, { clock: { now }, rows: 200, prefetch: 4, highWaterMark: 16 });
    let taken = 0;
    for await (const _ of stream) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      taken += 1;
      if (taken === 30) break;
    }
    expect(server.requests.length).toBeLessThanOrEqual(5);
  });
});

test('sliceFilter writes the range of a slice next to the rest of the filter', () => {
  const slice = { from: '2025-01-01 00:00:00', to: '2025-02-01 00:00:00' };
  expect(sliceFilter('inc_gce:1', slice, 'half-open', 'v3')).toBe(
    'date_added:[2025-01-01 00:00:00 TO 2025-02-01 00:00:00},inc_gce:1',
  );
  expect(sliceFilter(undefined, slice, 'closed', 'v3')).toBe(
    'date_added:[2025-01-01 00:00:00 TO 2025-01-31 23:59:59]',
  );
  expect(sliceFilter('', { from: null, to: slice.to }, 'half-open', 'v3')).toBe(
    'date_added:[* TO 2025-02-01 00:00:00}',
  );
});
