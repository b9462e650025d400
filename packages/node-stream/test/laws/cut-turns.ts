import { setImmediate as nextRound } from 'node:timers/promises';
import { Tally } from '@call-attribution/test-tools/drill';
import { expect } from 'vitest';
import { syncInto } from '../../src/index.ts';
import { type FakeRecord, FakeServer, fakeRecords } from '../fake-server.ts';
import { memoryStore } from './sync.ts';

const clock = { now: () => Date.UTC(2027, 0, 1) };

/** A first read that is cut, into turns of some pages or by kills. */
export interface CutRead {
  readonly calls: number;
  readonly rows: number;
  readonly maxPages?: number;
  /** Commits after which it is killed. */
  readonly dies?: number;
  /** Commits after which its signal aborts, while the next pages are on their way. */
  readonly aborts?: number;
  readonly order?: 'oldest' | 'newest';
  /** The server gives no more rows than this; the records come in no order. */
  readonly clamp?: number;
  readonly isMixed?: boolean;
}

/**
 * Rounds of the event loop that a request takes, so that pages are on their way when a turn ends.
 */
const rounds = 6;
async function answerLate(
  { signal }: { readonly signal: AbortSignal },
  most = rounds,
): Promise<void> {
  for (let round = 0; round < most; round += 1) await nextRound();
  signal.throwIfAborted();
}

/**
 * Reads in turns until the copy is whole, with at most 1.1 times the requests of one turn, and one
 * for each turn; four where it is aborted.
 */
export async function readsInTurns(
  { calls, rows, maxPages, dies, aborts, order = 'oldest', clamp, isMixed }: CutRead,
  tally = new Tally(),
): Promise<void> {
  // By day more calls than by night; where a page counts, all are of one length.
  const records = fakeRecords(calls, (i) => (aborts === undefined && i % 100 >= 80 ? 1800 : 300));
  const mirrored = ({ sid }: FakeRecord) => [...sid].reverse().join('');

  const make = () =>
    new FakeServer(records, {
      ...(aborts === undefined ? {} : { delay: answerLate }),
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
  const one = make();
  const server = make();
  expect(await syncInto(one, memoryStore(), options)).toMatchObject({
    proof: 'whole',
    proved: calls,
  });
  const copy = memoryStore();
  let turns = 0;
  for (let proof = 'unproven'; proof !== 'whole'; turns += 1) {
    copy.dieAfter = dies ?? Number.POSITIVE_INFINITY;
    const stop = new AbortController();
    let left = aborts ?? Number.POSITIVE_INFINITY;
    copy.onCommit = () => {
      left -= 1;
      if (left === 0) void answerLate(stop, rounds / 2).then(() => stop.abort(new Error('killed')));
    };
    const more = maxPages === undefined ? {} : { maxPages };
    const done = await syncInto(server, copy, { ...options, ...more, signal: stop.signal }).catch(
      (error: Error) => {
        expect(error.message).toBe('killed');
        return null;
      },
    );
    proof = done?.proof ?? 'unproven';
    expect(turns).toBeLessThan(500);
  }

  expect(turns).toBeGreaterThan(5);
  tally.happened('turns', turns);
  tally.compare(
    records.map(({ sid }) => sid),
    [...copy.rows.keys()],
  );
  expect(copy.rows.size).toBe(calls);

  // A turn ends with a cut on its way; an abort loses what has not arrived.
  const most = 1.1 * one.requests.length + (aborts === undefined ? 1 : 4) * turns;
  expect({ requests: server.requests.length, most }).toSatisfy(
    ({ requests, most }: { requests: number; most: number }) => requests <= most,
  );
}
