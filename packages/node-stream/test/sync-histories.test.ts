import { Tally } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { syncInto } from '../src/index.ts';
import { byTime, FakeServer, fakeRecords } from './fake-server.ts';
import { readsInTurns } from './laws/cut-turns.ts';
import { wholeIsWhole } from './laws/stretches.ts';
import { memoryStore } from './laws/sync.ts';

test('a copy that calls itself whole has every call that the server had when it was counted', async () => {
  const tally = new Tally();
  await wholeIsWhole(Number(process.env.CALLS_RUNS ?? 40), tally);
  expect(tally.counts).toMatchObject({ lost: 0, lied: 0, hung: 0 });
});

test.each([
  ['turns of 3 pages', { maxPages: 3 }],
  ['turns that are killed', { dies: 20 }],
  ['turns that are aborted after 20 pages', { aborts: 20, calls: 2_600 }],
])('a first read in %s ends, with at most 1.1 times the requests of one turn', (_, cut) =>
  readsInTurns({ calls: 2_000, rows: 20, ...cut }),
);

test('a first read that is aborted every 3 pages loses one page in each turn', () =>
  readsInTurns({ calls: 1_000, rows: 20, aborts: 3 }));

test.each([
  ['v3', 305, 5],
  ['v2', 305, 5],
  ['v3', 2, 2],
] as const)(
  'a first read of one page is counted by a request of its own: %s, %i calls, of which lists and their totals lack %i',
  async (version, calls, lost) => {
    const records = fakeRecords(calls);
    let hidden = new Set(records.slice(-lost));
    const server: FakeServer = Object.assign(
      new FakeServer(records, {
        after(page, { rows }) {
          if (rows === 1) return page;
          const listed = [...server.records].sort(byTime).filter((record) => !hidden.has(record));
          return { ...page, records: listed, total: listed.length };
        },
      }),
      { version },
    );
    const sink = memoryStore();
    const sync = () => syncInto(server, sink, { clock: { now: () => Date.UTC(2027, 0, 1) } });
    expect(await sync()).toMatchObject({ proof: 'short', missing: lost, calls });
    expect(sink.rows.size).toBe(calls - lost);
    hidden = new Set();
    expect(await sync()).toMatchObject({ proof: 'whole', missing: 0, calls });
    expect(sink.rows.size).toBe(calls);
  },
);

test('a first read of one page takes two requests', async () => {
  const server = new FakeServer(fakeRecords(100));
  const clock = { now: () => Date.UTC(2027, 0, 1) };
  expect(await syncInto(server, memoryStore(), { clock })).toMatchObject({
    proof: 'whole',
    proved: 100,
  });
  expect(server.requests.map(({ rows }) => rows)).toEqual([1000, 1]);
});
