import type { Call } from '@call-attribution/core';
import { DatabaseSync as Database } from '@call-attribution/sqlite';
import { Tally } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { openStore, type Selection } from '../src/index.ts';
import { smallCall, timeText } from './small-calls.ts';

// Times at and next to the borders of all three kinds of buckets, with many ties.
const borders = [2 ** 25, 2 ** 21, 2 ** 17].flatMap((width) => [width * 50, width * 51]);
const second = fc.oneof(
  fc.constantFrom(...borders.flatMap((at) => [at - 1, at, at + 1])),
  fc.integer({ min: 50 * 2 ** 25 - 200_000, max: 50 * 2 ** 25 + 200_000 }),
);
const tenths = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 0, max: 30 }),
  fc.constantFrom(600, 601, 650, 700),
);
const call = fc
  .record({ n: fc.integer({ min: 0, max: 40 }), at: second, talk: tenths, extension: fc.boolean() })
  .map(({ n, at, talk, extension }) =>
    smallCall(`S${n}`, timeText(at), talk === null ? null : (talk / 10).toFixed(1), extension),
  );
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: fc.array(call, { minLength: 1, maxLength: 12 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      drop: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 6 }),
    }),
  },
);
const edge = fc.oneof(
  fc.constant(null),
  second.map((at) => at * 1000),
);
const selection = fc.record({
  period: fc.record({
    from: edge,
    to: edge,
    undated: fc.constantFrom('with' as const, 'without' as const),
  }),
  ranges: fc.oneof(
    fc.constant([]),
    fc
      .record({
        field: fc.constant('talk_minutes'),
        from: fc.oneof(
          fc.constant(null),
          fc.integer({ min: 0, max: 20 }),
          fc.constantFrom(150, 600, 601, 650),
        ),
        before: fc.oneof(
          fc.constant(null),
          fc.integer({ min: 1, max: 31 }),
          fc.constantFrom(601, 650),
        ),
      })
      .map((range) => [range]),
  ),
  extensions: fc.boolean(),
});
const query = fc.record({
  selection,
  offset: fc.integer({ min: 0, max: 30 }),
  rows: fc.integer({ min: 1, max: 12 }),
});

/** The same data in the simplest table, queried in the simplest way. */
const naive = new Database(':memory:');
naive.exec(
  'CREATE TABLE calls (sid TEXT PRIMARY KEY, at INTEGER, talk INTEGER, extension INTEGER)',
);
afterAll(() => naive.close());

function naiveApply(step: { put?: Call[]; drop?: number[] }): void {
  for (const c of step.put ?? []) {
    const talk = c.talk_minutes === null ? null : Math.round(Number(c.talk_minutes) * 10);
    const at = Date.parse(`${c.date_added}Z`.replace(' ', 'T')) / 1000;
    naive
      .prepare('INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?)')
      .run(c.sid, at, talk, c.channel === 'Call Extension' ? 1 : 0);
  }
  for (const n of step.drop ?? []) naive.prepare('DELETE FROM calls WHERE sid = ?').run(`S${n}`);
}

function naiveResult({
  selection: s,
  offset,
  rows,
}: {
  selection: Required<Omit<Selection, 'changedSince'>>;
  offset: number;
  rows: number;
}) {
  const [range] = s.ranges;
  const talk =
    range === undefined ? '' : ` AND talk >= ${range.from ?? 0} AND talk < ${range.before ?? 1e9}`;
  const { from, to } = s.period;
  const begin = from === null ? '' : ` AND at >= ${from / 1000}`;
  const end = to === null ? '' : ` AND at < ${to / 1000}`;
  const where = `FROM calls WHERE true${begin}${end}${talk}${s.extensions ? '' : ' AND extension = 0'}`;
  const { n } = naive.prepare(`SELECT count(*) AS n ${where}`).get() as { n: number };
  const page = naive
    .prepare(`SELECT sid ${where} ORDER BY at, sid LIMIT ${rows} OFFSET ${offset}`)
    .all() as { sid: string }[];
  return { total: n, sids: page.map(({ sid }) => sid) };
}

/**
 * Checks after random writes that a store returns the totals and pages that plain SQL returns, and
 * that its counts are exact.
 */
export async function agreesWithNaiveSql(
  url: string,
  runs: number,
  tally = new Tally(),
): Promise<void> {
  const store = await openStore(url);
  let account = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { maxLength: 6 }),
      fc.array(query, { minLength: 1, maxLength: 8 }),
      (changes, queries) =>
        tally.run(async () => {
          account += 1;
          const id = String(account);
          naive.exec('DELETE FROM calls');
          await store.putAccount({ id, name: 'law' });
          for (const step of changes as { put?: Call[]; drop?: number[] }[]) {
            if (step.put) await store.upsert(id, step.put);
            if (step.drop)
              await store.remove(
                id,
                step.drop.map((n) => `S${n}`),
              );
            naiveApply(step);
          }

          for (const wanted of queries) {
            const expected = naiveResult(wanted);
            const page = await store.page(id, { ...wanted, version: 'v3' });
            const found = (JSON.parse(String(page.body)) as Call[]).map(({ sid }) => sid);
            tally.compare(expected.sids, found);
            expect({ total: page.total, sids: found }).toEqual(expected);
            expect(page.count).toBe(expected.sids.length);
            expect(await store.count(id, wanted.selection)).toBe(expected.total);
          }
        }),
    ),
    { numRuns: runs },
  );
  await store.close();
}
