import { describe, expect, test } from 'vitest';
import { syncInto } from '../src/index.ts';
import { createCallStream } from '../src/read.ts';
import {
  byTime,
  type FakeBehaviour,
  type FakePage,
  FakeServer,
  fakeRecords,
} from './fake-server.ts';
import { memoryStore } from './laws/sync.ts';

const newestFirst: FakeBehaviour = {
  order: (a, b) => byTime(b, a),
  clamp: (asked) => Math.min(asked, 200),
};

/** Gives no total with the last page of a list, nor behind it. */
const notOnLast: FakeBehaviour = {
  ...newestFirst,
  after: (page) =>
    page.first + page.records.length > (page.total ?? 0) ? { ...page, total: null } : page,
};

async function read(server: FakeServer, filter = '') {
  const stream = createCallStream(server, { filter });
  const sids: string[] = [];
  for await (const { sid } of stream) sids.push(sid);
  const { proof } = stream.verdict();
  return { proof, sids: sids.sort(), requests: server.requests.length };
}

describe('a server that gives no total on the last page, lists the newest first, and gives 200 rows', () => {
  test.each([
    ['5,000 calls', fakeRecords(5000), 45],
    ['150', fakeRecords(150), 2],
    ['200', fakeRecords(200), 3],
    ['201', fakeRecords(201), 10],
    ['700 in one second', fakeRecords(700, () => 0), 20],
    ['no call', [], 1],
  ])('%s: they are whole', async (_, records, most) => {
    const { proof, sids, requests } = await read(new FakeServer(records, notOnLast));
    expect({ proof, sids }).toEqual({ proof: 'whole', sids: records.map(({ sid }) => sid) });
    expect(requests).toBeLessThanOrEqual(most);
  });

  test('a filter that finds one call', async () => {
    const filter = 'date_added:[2026-01-01 00:30:00 TO 2026-01-01 00:30:00]';
    const found = await read(new FakeServer(fakeRecords(150), notOnLast), filter);
    expect(found).toEqual({ proof: 'whole', sids: ['s0000030'], requests: 4 });
  });

  test('the only call of an account is not proved: nothing tells it from a server without totals', async () => {
    const found = await read(new FakeServer(fakeRecords(1), notOnLast));
    expect(found).toMatchObject({ proof: 'unproven', sids: ['s0000000'] });
  });
});

test('where one row has no total either, none is asked for again', async () => {
  const server = new FakeServer(fakeRecords(1000), { hasNoTotal: true });
  const { proof, sids } = await read(server);
  expect({ proof, count: sids.length }).toEqual({ proof: 'unproven', count: 1000 });
  expect(server.requests.map(({ rows, page }) => `${page}/${rows}`)).toEqual([
    '0/1000',
    '0/1',
    '1/1000',
  ]);
});

test('a proxy drops the total of each seventh answer: all calls come, and are whole', async () => {
  let answers = 0;
  const server = new FakeServer(fakeRecords(5000), {
    ...newestFirst,
    after(page: FakePage) {
      answers += 1;
      return answers % 7 === 0 ? { ...page, total: null } : page;
    },
  });
  const { proof, sids } = await read(server);
  expect({ proof, count: sids.length }).toEqual({ proof: 'whole', count: 5000 });
});

test.each(['oldest', 'newest'] as const)(
  'totals that stop at 100, and a second of 300 calls: a sync in turns of two pages gets all of them, %s first',
  async (listed) => {
    const busy = fakeRecords(500, (i) => (i >= 100 && i < 400 ? 0 : 60));
    const server = new FakeServer(busy, {
      order: (a, b) => (listed === 'oldest' ? byTime(a, b) : byTime(b, a)),
      after: (page) => ({ ...page, total: Math.min(page.total ?? 0, 100) }),
    });
    const copy = memoryStore();
    const clock = { now: () => Date.UTC(2026, 5, 1) };
    const proofs: string[] = [];
    for (let turn = 0; turn < 30; turn += 1)
      proofs.push((await syncInto(server, copy, { rows: 30, maxPages: 2, clock })).proof);
    expect([...copy.rows.keys()].sort()).toEqual(busy.map(({ sid }) => sid));
    expect(proofs).not.toContain('whole');
  },
);
