import { Tally } from '@call-attribution/test-tools/drill';
import { expect } from 'vitest';
import { type SyncBatch, type SyncState, syncInto } from '../../src/index.ts';
import { type FakeRecord, FakeServer, fakeRecords } from '../fake-server.ts';

const clock = { now: () => Date.UTC(2027, 0, 1) };

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

/** A first read that is cut, into turns of some pages or by kills. */
export interface CutRead {
  readonly calls: number;
  readonly rows: number;
  readonly maxPages?: number;
  /** Commits after which it is killed. */
  readonly dies?: number;
  readonly order?: 'oldest' | 'newest';
  /** The server gives no more rows than this; the records come in no order. */
  readonly clamp?: number;
  readonly isMixed?: boolean;
}

/** Reads in turns until the copy is whole, with at most 1.1 times the requests of one turn. */
export async function readsInTurns(
  { calls, rows, maxPages, dies, order = 'oldest', clamp, isMixed }: CutRead,
  tally = new Tally(),
): Promise<void> {
  // By day more calls than by night.
  const records = fakeRecords(calls, (i) => (i % 100 < 80 ? 300 : 1800));
  const mirrored = ({ sid }: FakeRecord) => [...sid].reverse().join('');
  const make = () =>
    new FakeServer(records, {
      ...(clamp === undefined ? {} : { clamp: (asked) => Math.min(asked, clamp) }),
      ...(isMixed ? { order: (a, b) => (mirrored(a) < mirrored(b) ? -1 : 1) } : {}),
    });
  const options = {
    clock,
    rows,
    lookback: '1d',
    order,
    ...(dies === undefined ? {} : { prefetch: 1 }),
  } as const;
  const [one, server] = [make(), make()];
  expect(await syncInto(one, copyOf(), options)).toMatchObject({ proof: 'whole', calls });
  const copy = copyOf();
  let turns = 0;
  for (let proof = 'unproven'; proof !== 'whole'; turns += 1) {
    copy.dieAfter = copy.commits + (dies ?? Number.POSITIVE_INFINITY);
    const more = maxPages === undefined ? {} : { maxPages };
    const done = await syncInto(server, copy, { ...options, ...more }).catch((error: Error) => {
      expect(error.message).toBe('killed');
      return null;
    });
    proof = done?.proof ?? 'unproven';
    expect(turns).toBeLessThan(500);
  }
  expect(turns).toBeGreaterThan(5);
  tally.happened('turns', turns);
  tally.compare(
    records.map(({ sid }) => sid),
    [...copy.sids],
  );
  expect(copy.sids.size).toBe(calls);
  expect({ requests: server.requests.length, most: 1.1 * one.requests.length }).toSatisfy(
    ({ requests, most }: { requests: number; most: number }) => requests <= most,
  );
}
