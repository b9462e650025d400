import { channel } from 'node:diagnostics_channel';
import { apiKeys, type Call, createClient, type RequestEvent } from '@call-attribution/core';
import { createManualClock, createMockAgent, faults, fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import { afterwards, collect, serve } from './support.ts';

type Event = Record<string, unknown> & { channel: string };

/** Collects the events of all channels until the test is over. */
function listen(): Event[] {
  const events: Event[] = [];
  for (const name of ['request', 'attempt', 'retry', 'wait', 'page']) {
    const hear = (event: unknown) => events.push({ channel: name, ...(event as object) });
    const one = channel(`call-attribution:${name}`);
    one.subscribe(hear);
    afterwards(() => one.unsubscribe(hear));
  }
  return events;
}

describe('diagnostics channels', () => {
  test('the events follow a request from its start over a retry to its end', async () => {
    const events = listen();
    const { server, client } = await serve();
    server.next(faults.status(503));
    await client.listCalls({ rows: 5 });
    expect(events.map((event) => [event.channel, event.phase ?? event.attempt ?? event.count])).toEqual([
      ['request', 'start'],
      ['attempt', 1],
      ['retry', 1],
      ['attempt', 2],
      ['request', 'end'],
      ['page', 5],
    ]);
    expect(events[1]).toMatchObject({
      operation: 'list',
      status: 503,
      error: 'server_error',
      url: `${server.url}/v3/user/bid-management?rows=5`,
    });
    expect(events[3]).toMatchObject({ status: 200, bytes: expect.any(Number) });
    expect(events[4]).toMatchObject({ attempts: 2, status: 200, durationMs: expect.any(Number) });
    expect(events[5]).toMatchObject({ rows: 5, page: 0, total: 20, clamped: false });
    expect(new Set(events.slice(0, 5).map(({ id }) => id)).size).toBe(1);
  });

  test('the events say how a request failed', async () => {
    const events = listen();
    const { client } = await serve({ fault: () => faults.status(401) });
    await client.countCalls().catch(() => {});
    expect(events.at(-1)).toMatchObject({ phase: 'end', error: 'unauthorized', status: 401, attempts: 1 });
    await client.getCall('x', { signal: AbortSignal.timeout(0) }).catch(() => {});
    expect(events.filter((event) => event.error === 'aborted').length).toBeLessThanOrEqual(2);
  });

  test('the events say how long the limiter held a request back', async () => {
    const events = listen();
    const { client } = await serve({ fault: () => faults.drip(4096, 2) }, { limiter: { concurrency: 1 } });
    await Promise.all([client.listCalls(), client.listCalls()]);
    const waits = events.filter((event) => event.channel === 'wait').map((event) => Number(event.waitedMs));
    expect(Math.max(...waits)).toBeGreaterThan(0);
  });

  test('the events are enough to tell the spans of two simultaneous requests apart', async () => {
    const open = new Map<object, string>();
    const done: string[] = [];
    const hear = (message: unknown) => {
      const event = message as RequestEvent;
      if (event.phase === 'start') open.set(event.id, event.operation);
      else done.push(`${open.get(event.id)} ${event.status}`);
    };
    channel('call-attribution:request').subscribe(hear);
    afterwards(() => channel('call-attribution:request').unsubscribe(hear));
    const { client } = await serve();
    await Promise.all([client.getCall('S1-0000001'), client.listCalls()]);
    expect(done.sort()).toEqual(['get 200', 'list 200']);
  });
});

describe('reports', () => {
  test('each unknown or broken field is reported once, not once for each record', async () => {
    const reports: unknown[] = [];
    const odd = fixtureCalls(20).map((call) => ({ ...call, novel: 1, rank: '9' })) as Call[];
    const { client } = await serve({ calls: odd }, { onReport: (report) => reports.push(report) });
    const calls = await collect(client.listCalls({ rows: 5 }));
    expect(calls.map((call) => (call as Call & { novel: number }).novel)).toEqual(Array(20).fill(1));
    expect(reports).toEqual([
      {
        type: 'record',
        kind: 'value',
        field: 'rank',
        expected: 'one of 1, 2, 3, 4, 5',
        found: 'another value',
      },
      {
        type: 'record',
        kind: 'unknown_field',
        field: 'novel',
        expected: 'a field of the table',
        found: 'number',
      },
    ]);
  });
});

describe('the response of a result', () => {
  test('status, headers, request id and attempts of the response are available', async () => {
    const headers = { 'x-request-id': 'req-1', 'set-cookie': 'session=secret', 'x-served-by': 'a' };
    const { client } = await serve({
      fault: () => ({ change: (answer) => ({ ...answer, headers: { ...answer.headers, ...headers } }) }),
    });
    const { meta } = await client.listCalls({ rows: 2 });
    expect(meta).toMatchObject({
      status: 200,
      requestId: 'req-1',
      attempts: 1,
      rows: 2,
      page: 0,
      headers: { 'x-served-by': 'a' },
    });
    expect(JSON.stringify(meta)).not.toContain('session');
    await expect(
      (await serve({ fault: () => faults.status(500, headers) })).client.listCalls(),
    ).rejects.toMatchObject({ requestId: 'req-1' });
  });

  test('a raw page has its bytes, its byte ranges and single records', async () => {
    const { server, client } = await serve();
    const page = await client.fetchPage({ rows: 3, page: 1 });
    const [first] = page.byteRanges();
    expect(page).toMatchObject({ count: 3, range: { first: 4, last: 6, total: 20 } });
    expect(JSON.parse(Buffer.from(page.bytes.subarray(first?.start, first?.end)).toString())).toEqual(
      server.calls[3],
    );
    expect(page.record(2)).toEqual(server.calls[5]);
    expect(page.records()).toEqual(server.calls.slice(3, 6));
    expect(() => page.record(3)).toThrow(RangeError);
    page.release?.();
    page.release?.();
    expect(() => page.records()).toThrow('released');
  });
});

describe('another dispatcher', () => {
  test('an error thrown by a dispatcher is an error like any other, and leaves no timer', async () => {
    const clock = createManualClock();
    const dispatcher = {
      dispatch: () => {
        throw new Error('LEAK');
      },
    } as never;
    const client = createClient({
      baseUrl: 'http://127.0.0.1:9',
      auth: apiKeys('a', 'b'),
      dispatcher,
      clock,
      retry: { attempts: 1 },
    });
    const error = await client.listCalls().catch((thrown) => thrown);
    expect([error.code, clock.pending()]).toEqual(['connection_failed', 0]);
    expect(String(error.stack) + String(error.cause)).not.toContain('LEAK');
  });
  test('a mock agent answers without a socket', async () => {
    const calls = fixtureCalls(7);
    const dispatcher = createMockAgent({ baseUrl: 'https://api.example.com', calls });
    const client = createClient({ baseUrl: 'https://api.example.com', auth: apiKeys('a', 'b'), dispatcher });
    expect(await collect(client.listCalls({ rows: 3 }))).toEqual(calls);
    expect(await client.getCall(calls[2]?.sid as string)).toEqual(calls[2]);
    expect(await client.countCalls()).toEqual({ total: 7, source: 'content-range' });
    await client.close();
    expect((await client.listCalls().catch((error) => error)).code).toBe('client_closed');
    await dispatcher.close();
  });
  test('a request to an origin that is not mocked is refused without showing what was sent', async () => {
    const dispatcher = createMockAgent({ baseUrl: 'https://api.example.com' });
    const client = createClient({
      baseUrl: 'https://other.example.com',
      auth: apiKeys('LEAK-1', 'LEAK-2'),
      dispatcher,
      retry: { attempts: 1 },
    });
    const error = await client.listCalls().catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'connection_failed' });
    expect(String(error.stack) + String(error.cause)).not.toContain('LEAK');
    await dispatcher.close();
  });
});
