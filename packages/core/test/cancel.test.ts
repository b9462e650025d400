import { getEventListeners } from 'node:events';
import { bearerToken, type Client, createClient, createLimiter } from '@call-attribution/core';
import { createManualClock, type Fault } from '@call-attribution/core/testing';
import { Agent } from 'undici';
import { describe, expect, test } from 'vitest';
import { collect, failure, serve } from './support.ts';

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('an abort', () => {
  const reads: [string, (client: Client, signal: AbortSignal) => Promise<unknown>][] = [
    ['listCalls', (client, signal) => client.listCalls({ signal })],
    ['fetchPage', (client, signal) => client.fetchPage({ signal })],
    ['calls', (client, signal) => collect(client.listCalls({ signal }))],
    ['getCall', (client, signal) => client.getCall('S1-0000001', { signal })],
    ['countCalls', (client, signal) => client.countCalls({ signal })],
    ['listSmsNumbers', (client, signal) => client.listSmsNumbers({ signal })],
  ];

  test.each(reads)('of %s before anything is sent sends nothing', async (_, read) => {
    const { server, client } = await serve();
    const reason = new Error('not needed');
    expect(await failure(read(client, AbortSignal.abort(reason)))).toBe(reason);
    expect(server.requests).toEqual([]);
  });

  const places: [string, Fault][] = [
    ['before the answer', { silent: true }],
    ['in the middle of a body', { stall: 0.5 }],
    ['in a dripping body', { drip: 1, dripEvery: 5 }],
  ];
  for (const [place, fault] of places)
    test.each(reads)(
      `of %s ${place} rejects within a tick and closes the socket`,
      async (_, read) => {
        const { server, client } = await serve();
        server.next(fault);
        const stop = new AbortController();
        const work = failure(read(client, stop.signal));
        await expect.poll(() => server.requests.length).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 10));
        let settled = false;
        void work.then(() => {
          settled = true;
        });
        stop.abort();
        await tick();
        expect(settled).toBe(true);
        expect(await work).toBe(stop.signal.reason);
        expect((await server.abortSeen()).aborted).toBe(true);
        await expect.poll(() => server.connections()).toBe(0);
      },
    );

  test('an abort during a wait rejects within a tick and leaves no timer', async () => {
    const clock = createManualClock(Date.UTC(2024, 0, 1));
    const { server, client } = await serve({}, { clock });
    server.next({ status: 429, retryAfter: '60' });
    const stop = new AbortController();
    const work = failure(client.listCalls({ signal: stop.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();
    expect(await work).toBe(stop.signal.reason);
    expect([clock.pending(), server.requests.length]).toEqual([0, 1]);
  });

  test('an abort in the queue of a limiter rejects within a tick', async () => {
    const limiter = createLimiter({ concurrency: 1 }, createManualClock());
    await limiter.acquire();
    const { server, client } = await serve({}, { limiter });
    const stop = new AbortController();
    const work = failure(client.listCalls({ signal: stop.signal }));
    await tick();
    stop.abort();
    expect(await work).toBe(stop.signal.reason);
    expect(server.requests).toEqual([]);
  });

  test('no listener stays on the signal', async () => {
    const { client } = await serve();
    const { signal } = new AbortController();
    for (let i = 0; i < 5; i += 1) await client.listCalls({ signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('deadlines', () => {
  test('a connection that nobody accepts ends at the connect deadline', async () => {
    const agent = new Agent({
      connect: (_, callback) =>
        void setTimeout(
          () =>
            callback(Object.assign(new Error('late'), { code: 'UND_ERR_CONNECT_TIMEOUT' }), null),
          5,
        ),
    });
    const client = createClient({
      baseUrl: 'http://127.0.0.1:9',
      auth: bearerToken('t'),
      dispatcher: agent,
      retry: { attempts: 2, baseDelay: 0 },
    });
    await expect(client.listCalls()).rejects.toMatchObject({
      code: 'timeout',
      limit: 'connect',
      attempts: 2,
      name: 'DeadlineError',
    });
    await agent.close();
  });
  test('the error names a server that is not running, and says what to check', async () => {
    const { server, client } = await serve();
    await server.close();
    const error = await failure(client.listCalls());
    expect(error).toMatchObject({
      code: 'connection_failed',
      attempts: 4,
      name: 'ConnectionError',
      isRetryable: true,
    });
    expect(String(error)).toContain('ECONNREFUSED');
  });
  test('the error names a host that does not exist', async () => {
    const client = createClient({
      baseUrl: 'http://nowhere.invalid',
      auth: bearerToken('t'),
      retry: { attempts: 1 },
    });
    await expect(client.listCalls()).rejects.toMatchObject({ code: 'connection_failed' });
  });
});
