import { setMaxListeners } from 'node:events';
import { type Clock, createLimiter, HttpError } from '@call-attribution/core';
import { createManualClock } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestedDelay, retryDelay } from '../src/http/retry.ts';
import { failure, serve } from './support.ts';

const now = Date.UTC(2024, 0, 1);
const policy = { attempts: 4, baseDelay: 250, maxDelay: 8000 };

describe('the wait that a server requests', () => {
  test.each([
    ['seconds', { 'retry-after': '5' }, 5000],
    ['part of a second', { 'retry-after': '0.5' }, 500],
    ['a date', { 'retry-after': 'Mon, 01 Jan 2024 00:00:10 GMT' }, 10_000],
    [
      'a date against the clock of the server',
      { 'retry-after': 'Mon, 01 Jan 2024 01:00:10 GMT', date: 'Mon, 01 Jan 2024 01:00:00 GMT' },
      10_000,
    ],
    ['a date in the past', { 'retry-after': 'Sun, 31 Dec 2023 00:00:00 GMT' }, 0],
    ['RateLimit-Reset', { 'ratelimit-reset': '30' }, 30_000],
    ['X-RateLimit-Reset since 1970', { 'x-ratelimit-reset': String(now / 1000 + 7) }, 7000],
    [
      'X-RateLimit-Reset in milliseconds since 1970',
      { 'x-ratelimit-reset': String(now + 7000) },
      7000,
    ],
    ['Retry-After before RateLimit-Reset', { 'retry-after': '5', 'ratelimit-reset': '60' }, 5000],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['nothing', {}, undefined],
  ])('is read from %s', (_, headers, expected) => {
    expect(requestedDelay(headers, now)).toBe(expected);
  });

  test('a wait that the server requests is never shortened, and the jitter added to it is small', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.nat(1e6),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, asked, random) => {
          const wait = retryDelay(policy, attempt, asked, () => random);
          expect(wait).toBeGreaterThanOrEqual(asked);
          expect(wait).toBeLessThanOrEqual(asked + policy.baseDelay);
        },
      ),
    );
  });

  test('otherwise the wait is anything up to the doubled bound', () => {
    const bounds = [1, 2, 3, 9].map((attempt) =>
      retryDelay(policy, attempt, undefined, () => 0.9999),
    );
    expect(bounds).toEqual([249, 499, 999, 7999]);
    expect(retryDelay(policy, 3, undefined, () => 0)).toBe(0);
  });
});

describe('retries with a manual clock', () => {
  test('a server that is silent is not tried again where afterSilence is false', async () => {
    const clock = createManualClock(now);
    const { server, client } = await serve(
      { faults: () => ({ silent: true }) },
      {
        clock,
        timeout: { idle: 60 },
        retry: { attempts: 3, baseDelay: 1, maxDelay: 1, afterSilence: false },
      },
    );
    const silent = failure(client.listCalls());
    await expect.poll(() => server.requests.length).toBe(1);
    await clock.advance(60);
    expect(await silent).toMatchObject({ code: 'timeout', limit: 'idle' });
    expect(server.requests).toHaveLength(1);
  });

  test('no attempt is made earlier than the server requested', async () => {
    const clock = createManualClock(now);
    const { server, client } = await serve({}, { clock, random: () => 0 });
    server.next({ status: 429, retryAfter: '30' });
    const work = client.listCalls();
    while (clock.pending() === 0 || server.requests.length === 0)
      await new Promise((resolve) => setImmediate(resolve));
    await expect.poll(() => clock.pending()).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(29_999);
    expect(server.requests).toHaveLength(1);
    await clock.advance(1);
    expect((await work).meta.attempts).toBe(2);
  });

  test('a wait past the total deadline fails at once and says when to try again', async () => {
    const { server, client } = await serve({}, { timeout: { total: 5000 } });
    server.next({ status: 429, retryAfter: '60' });
    const before = Date.now();
    const error = (await failure(client.listCalls())) as HttpError;
    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({
      code: 'rate_limited',
      attempts: 1,
      retryAfterMs: 60_000,
      isRetryable: true,
    });
    const when = Date.parse(/try again after (\S+)\.$/.exec(error.hint ?? '')?.[1] ?? '');
    expect(when).toBeGreaterThanOrEqual(before + 60_000);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', undefined],
    // The wait counts from the server's own time, so that an answer that was long on its way moves
    // the end: here not into another hour.
    ['Fri, 31 Dec 9999 12:00:00 GMT', '9999-12-31T12:'],
    ['99999999999999999', '+275760-09-13T00:00:00.000Z'],
  ])(
    'a server that says to come back at %s is asked again at once, or not before %s',
    async (date, when) => {
      const { server, client } = await serve();
      server.next({ status: 429, headers: { 'retry-after': date } });
      const work = client.listCalls();
      if (when === undefined) expect((await work).meta.attempts).toBe(2);
      else
        expect(await failure(work)).toMatchObject({
          code: 'rate_limited',
          attempts: 1,
          hint: expect.stringContaining(when),
        });

      expect(server.requests).toHaveLength(when === undefined ? 2 : 1);
    },
  );
});

describe('the limiter', () => {
  test('no more requests start in any minute than allowed, and none waits longer than needed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 10 }),
        fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 40 }),
        async (requestsPerMinute, gaps) => {
          const clock = createManualClock();
          const limiter = createLimiter({ requestsPerMinute }, clock);
          const starts: number[] = [];
          for (const gap of gaps) {
            void limiter.acquire().then(() => starts.push(clock.now()));
            await clock.advance(gap);
          }

          await clock.advance(60_000 * 41);
          expect(starts).toHaveLength(gaps.length);
          for (const [i, start] of starts.entries()) {
            const earlier = starts[i - requestsPerMinute];
            if (earlier !== undefined) expect(start - earlier).toBeGreaterThanOrEqual(60_000);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  test('the limiter keeps to its concurrency, first come, first served', async () => {
    const limiter = createLimiter({ concurrency: 2 }, createManualClock());
    const order: number[] = [];
    const work = [0, 1, 2, 3].map((i) => limiter.acquire().then(() => order.push(i)));
    await Promise.all(work.slice(0, 2));
    expect(order).toEqual([0, 1]);
    limiter.release();
    await work[2];
    expect(order).toEqual([0, 1, 2]);
    limiter.release();
    await work[3];
  });

  test('a pause holds all requests back', async () => {
    const clock = createManualClock();
    const limiter = createLimiter({ concurrency: 9 }, clock);
    limiter.pause(5000);
    let through = 0;
    for (let i = 0; i < 3; i += 1) void limiter.acquire().then(() => (through += 1));
    await clock.advance(4999);
    expect(through).toBe(0);
    await clock.advance(1);
    expect(through).toBe(3);
  });

  test('an aborted wait lets the next request start', async () => {
    const clock = createManualClock();
    const limiter = createLimiter({ concurrency: 1 }, clock);
    await limiter.acquire();
    const stop = new AbortController();
    const first = failure(limiter.acquire(stop.signal));
    const second = limiter.acquire();
    stop.abort(new Error('enough'));
    expect(await first).toMatchObject({ message: 'enough' });
    limiter.release();
    await second;
    expect(clock.pending()).toBe(0);
  });

  test('3,200 requests wait for a limiter, in order and without a timer', async () => {
    const clock = createManualClock();
    let timers = 0;
    const counted: Clock = {
      now: clock.now,
      timer(run, ms) {
        timers += 1;
        return clock.timer(run, ms);
      },
    };
    const limiter = createLimiter({ concurrency: 1 }, counted);
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const order: number[] = [];
    const gone: unknown[] = [];
    const waits = Array.from({ length: 3_200 }, (_, i) =>
      limiter.acquire(i % 2 === 1 ? stop.signal : undefined).then(
        () => {
          order.push(i);
          limiter.release();
        },
        (reason: unknown) => gone.push(reason),
      ),
    );
    stop.abort('enough');
    await Promise.all(waits);
    expect(order).toEqual(Array.from({ length: 1_600 }, (_, i) => 2 * i));
    expect(gone).toEqual(Array(1_600).fill('enough'));
    expect([timers, clock.pending()]).toEqual([0, 0]);
  });

  test('a rate lets thousands of requests through in their order, with one timer at a time', async () => {
    const clock = createManualClock();
    const limiter = createLimiter({ requestsPerMinute: 1000 }, clock);
    const order: number[] = [];
    for (let i = 0; i < 8_000; i += 1) void limiter.acquire().then(() => order.push(i));
    expect(clock.pending()).toBe(1);
    for (let minutes = 1; minutes <= 8; minutes += 1) {
      await clock.advance(60_000);
      expect(order).toHaveLength(Math.min(8_000, 1000 * (minutes + 1)));
    }

    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(clock.pending()).toBe(0);
  });

  test('a 429 for one request pauses all requests of the client', async () => {
    const clock = createManualClock(now);
    const { server, client } = await serve(
      {},
      { clock, random: () => 0, limiter: { concurrency: 1 } },
    );
    server.next({ status: 429, retryAfter: '10' });
    const work = [client.listCalls(), client.listCalls()];
    await expect.poll(() => server.requests.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(9_999);
    expect(server.requests).toHaveLength(1);
    await clock.advance(1);
    await expect.poll(() => server.requests.length).toBe(3);
    expect((await Promise.all(work)).map((page) => page.meta.attempts).sort()).toEqual([1, 2]);
  });

  test('a request that the limiter never lets start ends at the total deadline', async () => {
    const limiter = createLimiter({ concurrency: 1 }, createManualClock());
    await limiter.acquire();
    const { server, client } = await serve({}, { limiter, timeout: { total: 30 } });
    await expect(client.listCalls()).rejects.toMatchObject({ code: 'timeout', limit: 'total' });
    expect(server.requests).toEqual([]);
  });
});
