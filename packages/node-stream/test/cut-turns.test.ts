import { expect, test } from 'vitest';
import { type SyncBatch, type SyncOptions, type SyncState, syncInto } from '../src/index.ts';
import { FakeServer, fakeRecords } from './fake-server.ts';

const clock = { now: () => Date.UTC(2027, 0, 1) };
// 240 pages, a call each ten minutes on average, by day more than by night.
const records = fakeRecords(4_000, (i) => (i % 100 < 80 ? 300 : 1800));

/** A copy that can be killed before a commit. */
function copyOf() {
  let text = 'null';
  const copy = {
    sids: new Set<string>(),
    commits: 0,
    dieAfter: Number.POSITIVE_INFINITY,
    load: async (): Promise<SyncState | null> => JSON.parse(text),
    async commit({ calls, state }: SyncBatch) {
      copy.commits += 1;
      if (copy.commits > copy.dieAfter) throw new Error('killed');
      text = JSON.stringify(state);
      for (const { sid } of calls) copy.sids.add(sid);
    },
  };
  return copy;
}

async function uncut(options: SyncOptions, make = serverOf): Promise<number> {
  const server = make();
  const { proof, calls } = await syncInto(server, copyOf(), options);
  expect([proof, calls]).toEqual(['whole', records.length]);
  return server.requests.length;
}

const serverOf = () => new FakeServer(records);

test.each<[string, Partial<SyncOptions>, (() => FakeServer)?]>([
  ['turns of 3 pages', { maxPages: 3 }],
  ['turns of 10 pages', { maxPages: 10 }],
  ['turns of 10 pages, newest first', { maxPages: 10, order: 'newest' }],
  [
    'turns of 3 pages of a server that gives fewer rows',
    { maxPages: 3, rows: 45 },
    () => new FakeServer(records, { clamp: (rows) => Math.min(rows, 20) }),
  ],
  [
    'turns of 10 pages of a server in no order',
    { maxPages: 10 },
    () =>
      new FakeServer(records, {
        order: (a, b) => (a.sid.split('').reverse().join('') < b.sid.split('').reverse().join('') ? -1 : 1),
      }),
  ],
])(
  'a first read in %s ends, with at most 1.1 times the requests of one turn',
  async (_, more, make = serverOf) => {
    const { maxPages, ...rest } = more;
    const options = { clock, rows: 20, lookback: '1d', ...rest } as const;
    const once = await uncut(options, make);
    const server = make();
    const copy = copyOf();
    let turns = 0;
    for (let proof = 'unproven'; proof !== 'whole'; turns += 1) {
      ({ proof } = await syncInto(server, copy, { ...options, maxPages }));
      expect(turns).toBeLessThan(200);
    }
    expect(copy.sids.size).toBe(records.length);
    expect(turns).toBeGreaterThan(20);
    expect([server.requests.length, once, server.requests.length <= 1.1 * once]).toEqual([
      server.requests.length,
      once,
      true,
    ]);
  },
);

test('a first read that is killed again and again goes on where it was', async () => {
  const options = { clock, rows: 20, lookback: '1d', prefetch: 1 } as const;
  const once = await uncut(options);
  const server = serverOf();
  const copy = copyOf();
  for (let turn = 0; ; turn += 1) {
    expect(turn).toBeLessThan(30);
    copy.dieAfter = copy.commits + 20;
    const done = await syncInto(server, copy, options).catch((error: Error) => {
      expect(error.message).toBe('killed');
      return null;
    });
    if (done) break;
  }
  expect(copy.sids.size).toBe(records.length);
  expect([server.requests.length, once, server.requests.length <= 1.1 * once]).toEqual([
    server.requests.length,
    once,
    true,
  ]);
});
