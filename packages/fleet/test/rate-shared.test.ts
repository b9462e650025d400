import { createManualClock } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Board, BoardMemory, createSharedLimiter, memoryBoard } from '../src/index.ts';
import { jobLimiters } from '../src/rate/job-limiters.ts';

const what = { baseUrl: 'https://api.example', reference: 'file:101.json' };

/** The most starts in any 60 seconds. */
function busiestMinute(starts: readonly number[]): number {
  const sorted = starts.toSorted((a, b) => a - b);
  return Math.max(0, ...sorted.map((from, i) => sorted.slice(i).filter((at) => at < from + 60_000).length));
}

/** A board whose clock is off, as seen from this worker. */
const skewed = (board: Board, ms: number): Board =>
  Object.create(board, { now: { value: () => board.now() + ms } });

test('all workers together never start more than the limit in any minute, and use most of it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 400 }),
      fc.array(
        fc.record({
          slots: fc.integer({ min: 1, max: 6 }),
          takesMs: fc.integer({ min: 0, max: 900 }),
          off: fc.integer({ min: -100, max: 100 }),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      async (requestsPerMinute, workers) => {
        const clock = createManualClock(1_000_000);
        const memory = new BoardMemory(clock);
        const ending = new AbortController();
        const starts: number[] = [];
        for (const { slots, takesMs, off } of workers) {
          const board = skewed(memoryBoard(memory), off);
          const limiter = createSharedLimiter(board, {
            ...what,
            requestsPerMinute,
            clock,
            signal: ending.signal,
          });
          for (let slot = 0; slot < slots; slot += 1)
            void (async () => {
              for (;;) {
                await limiter.acquire();
                starts.push(clock.now());
                await new Promise<void>((done) => clock.timer(done, takesMs));
                limiter.release('ok');
              }
            })().catch(() => undefined);
        }
        await clock.advance(150_000);
        ending.abort();
        expect(busiestMinute(starts)).toBeLessThanOrEqual(requestsPerMinute);
        const most = workers.reduce(
          (sum, { slots, takesMs }) => sum + (slots * 150_000) / Math.max(takesMs, 1),
          0,
        );
        if (most > 20 * requestsPerMinute)
          expect(starts.length).toBeGreaterThanOrEqual(Math.floor(requestsPerMinute * 2.5 * 0.7));
      },
    ),
    { numRuns: 25 },
  );
});

/** Two workers on one board, and what they have started. */
function twoWorkers(requestsPerMinute: number | null) {
  const clock = createManualClock(1_000_000);
  const memory = new BoardMemory(clock);
  const boards = [memoryBoard(memory), memoryBoard(memory)] as const;
  const [one, two] = boards.map((board) => createSharedLimiter(board, { ...what, requestsPerMinute, clock }));
  const starts: number[] = [];
  const start = (limiter: typeof one, signal?: AbortSignal) =>
    limiter?.acquire(signal).then(() => starts.push(clock.now() - 1_000_000));
  return { clock, boards, one, two, starts, start };
}

test.each([null, 60])('a pause of one worker holds all of them (limit %s)', async (limit) => {
  const { clock, one, two, starts, start } = twoWorkers(limit);
  one?.pause(30_000);
  await clock.advance(0);
  void start(one);
  void start(two);
  await clock.advance(29_000);
  expect(starts).toEqual([]);
  await clock.advance(5_000);
  expect(starts).toHaveLength(2);
  expect(Math.min(...starts)).toBeGreaterThanOrEqual(30_000);
});

test('a worker without contact to the board starts nothing', async () => {
  const { clock, boards, one, two, starts, start } = twoWorkers(60);
  await boards[0].close();
  void start(one);
  await clock.advance(60_000);
  expect(starts).toEqual([]);
  void start(two);
  await clock.advance(1_000);
  expect(starts).toHaveLength(1);
});

test('moments that pass while a worker is held up are not made up for', async () => {
  const clock = createManualClock(1_000_000);
  let heldUp = 0;
  const board = memoryBoard(new BoardMemory({ now: () => clock.now() + heldUp }));
  const limiter = createSharedLimiter(board, { ...what, requestsPerMinute: 300, clock });
  let starts = 0;
  for (let i = 0; i < 30; i += 1) void limiter.acquire().then(() => (starts += 1));
  await clock.advance(0);
  expect(starts).toBe(1);
  heldUp = 1_900;
  await clock.advance(1_000);
  expect(starts).toBeLessThanOrEqual(8);
});

test('a request that is given up leaves its place to the next', async () => {
  const { clock, one, starts, start } = twoWorkers(1);
  void start(one);
  await clock.advance(0);
  const ending = new AbortController();
  const gone = one?.acquire(ending.signal);
  void start(one);
  ending.abort(new Error('given up'));
  await expect(gone).rejects.toThrow('given up');
  await clock.advance(62_000);
  expect(starts).toHaveLength(2);
});

test('accounts share a limiter when they share credentials', () => {
  const limiters = jobLimiters(memoryBoard(), { baseUrl: what.baseUrl, requestsPerMinute: 100 });
  const limiter = limiters({ credential: 'file:a.json', requestsPerMinute: null });
  expect(limiters({ credential: 'file:a.json', requestsPerMinute: null })).toBe(limiter);
  expect(limiters({ credential: 'file:b.json', requestsPerMinute: null })).not.toBe(limiter);
});
