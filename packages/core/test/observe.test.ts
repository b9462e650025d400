import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, tracingChannel } from 'node:diagnostics_channel';
import {
  apiKeys,
  type Call,
  ConfigurationError,
  createClient,
  type Logger,
  lineLogger,
  type RequestEvent,
} from '@call-attribution/core';
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
    const { lines, logger } = keeper();
    const { client } = await serve(
      { fault: () => faults.drip(4096, 2) },
      { limiter: { concurrency: 1 }, logger },
    );
    await Promise.all([client.listCalls(), client.listCalls()]);
    const waits = events.filter((event) => event.channel === 'wait').map((event) => Number(event.waitedMs));
    expect(Math.max(...waits)).toBeGreaterThan(0);
    expect(lines).toMatchObject(
      waits.map((waitedMs) => ['info', 'call-attribution: held back by the limiter', { waitedMs }]),
    );
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

describe('tracing channels', () => {
  /** Binds a path of names to each start, and collects what ends. */
  function trace() {
    const path = new AsyncLocalStorage<string>();
    const ended: { name: string; path: string | undefined; context: Record<string, unknown> }[] = [];
    const failed: unknown[] = [];
    for (const name of ['page', 'request']) {
      const { start, asyncEnd, error } = tracingChannel(`call-attribution:${name}`);
      start.bindStore(path, () => `${path.getStore() ?? ''}/${name}`);
      const end = (context: unknown) =>
        ended.push({ name, path: path.getStore(), context: context as Record<string, unknown> });
      const fail = (context: unknown) => failed.push((context as { error: unknown }).error);
      asyncEnd.subscribe(end);
      error.subscribe(fail);
      afterwards(() => [start.unbindStore(path), asyncEnd.unsubscribe(end), error.unsubscribe(fail)]);
    }
    return { path, ended, failed };
  }

  test('a request runs within its page, and both within what the caller has bound', async () => {
    const { path, ended, failed } = trace();
    const { server, client } = await serve();
    server.next(faults.status(503));
    await path.run('caller', () => client.listCalls({ rows: 5 }));
    expect(ended.map((each) => [each.name, each.path])).toEqual([
      ['request', 'caller/page/request'],
      ['page', 'caller/page'],
    ]);
    expect(ended[0]?.context).toEqual({
      operation: 'list',
      method: 'GET',
      url: `${server.url}/v3/user/bid-management?rows=5`,
      address: '127.0.0.1',
      port: Number(new URL(server.url).port),
      attempts: 2,
      status: 200,
    });
    expect(ended[1]?.context).toEqual({ rows: 5, page: 0, count: 5, total: 20 });
    expect(failed).toEqual([]);
  });

  test('they carry the error that a request failed with', async () => {
    const { ended, failed } = trace();
    const { client } = await serve({ fault: () => faults.status(401) });
    const error = await client.listCalls().catch((thrown) => thrown);
    expect(failed).toEqual([error, error]);
    expect(ended[0]?.context).toMatchObject({ error, status: 401, attempts: 1 });
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

/** A logger that keeps its lines. */
function keeper(more: object = {}): { lines: unknown[][]; logger: Logger } {
  const lines: unknown[][] = [];
  const at =
    (level: string) =>
    (...line: unknown[]) =>
      void lines.push([level, ...line]);
  return {
    lines,
    logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), ...more },
  };
}

describe('the log', () => {
  test('attempts, retries, reports and failed requests are logged, each at its level', async () => {
    const { lines, logger } = keeper();
    const { server, client } = await serve({ maxRows: 5 }, { logger, logLevel: 'debug' });
    server.next(faults.status(503), faults.status(429));
    await client.listCalls({ rows: 8 });
    const url = `${server.url}/v3/user/bid-management?rows=8`;
    expect(lines.map(([level, message]) => `${level} ${message}`)).toEqual([
      'debug call-attribution: attempt',
      'warn call-attribution: retry',
      'debug call-attribution: attempt',
      'info call-attribution: retry',
      'debug call-attribution: attempt',
      'warn call-attribution: the server sends smaller pages than requested',
    ]);
    expect(lines[1]?.[2]).toEqual({
      operation: 'list',
      attempt: 1,
      error: 'server_error',
      status: 503,
      waitMs: expect.any(Number),
      url,
    });
    expect(lines[4]?.[2]).toEqual({
      operation: 'list',
      attempt: 3,
      status: 200,
      ms: expect.any(Number),
      bytes: expect.any(Number),
      url,
    });
    lines.length = 0;
    server.next(faults.status(401, { 'x-request-id': 'req-1' }), faults.status(404));
    await client.countCalls().catch(() => {});
    await client.getCall('x').catch(() => {});
    const [, failed, , notFound] = lines;
    expect(failed).toMatchObject(['error', 'call-attribution: request failed', { code: 'unauthorized' }]);
    expect(failed?.[2]).toMatchObject({ requestId: 'req-1', status: 401, attempts: 1 });
    expect(notFound).toMatchObject(['info', 'call-attribution: not found', { status: 404 }]);
  });

  test('pino is called with the fields first; other loggers, also with a child, with the message first', async () => {
    const pino = keeper({ child: () => {} });
    const winston = keeper({ child: () => {}, log: () => {} });
    for (const { logger } of [pino, winston]) {
      const { client } = await serve({ fault: () => faults.status(401) }, { logger });
      await client.countCalls().catch(() => {});
    }
    const fields = expect.objectContaining({ code: 'unauthorized' });
    expect(pino.lines).toEqual([['error', fields, 'call-attribution: request failed']]);
    expect(winston.lines).toEqual([['error', 'call-attribution: request failed', fields]]);
  });

  test('a level leaves out what is below it, and a logger that throws does not fail a request', async () => {
    const { lines, logger } = keeper();
    const { server, client } = await serve({}, { logger, logLevel: 'error' });
    server.next(faults.status(503));
    await client.listCalls();
    expect(lines).toEqual([]);
    const fail = () => {
      throw new Error('full disk');
    };
    const broken = { ...logger, debug: fail, info: fail, warn: fail, error: fail };
    const other = await serve({}, { logger: broken, logLevel: 'debug' });
    expect((await other.client.listCalls()).records).toHaveLength(20);
    const off = await serve({ fault: () => faults.status(401) }, { logger: broken, logLevel: 'off' });
    await expect(off.client.listCalls()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('no line has a key or a number that a server echoes', async () => {
    const written: string[] = [];
    const logger = lineLogger('text', (line) => written.push(line));
    const echo = 'key-one/key-two/+15555550100';
    const odd = [{ ...fixtureCalls(1)[0], '+1 555 555 0100': 1, k15555550100: 1 }] as unknown as Call[];
    const { server, client } = await serve(
      { calls: odd },
      { logger, logLevel: 'debug', limiter: { concurrency: 1 } },
    );
    await client.listCalls();
    server.next(
      faults.status(503, { 'x-request-id': echo, 'retry-after': '0' }),
      faults.status(403, { 'x-request-id': echo, location: `/${echo}` }),
    );
    await client.listCalls().catch(() => {});
    await client.listSmsNumbers().catch(() => {});
    expect(written.join('\n')).toMatch(
      / error call-attribution: request failed operation=list code=forbidden /,
    );
    expect(written.join('\n')).toContain('requestId=[secret]/[secret]/[number]');
    expect(written.join('\n')).not.toMatch(/key-one|key-two|555/);
  });

  test('a line has the time, the level, the message and key=value, or is JSON', () => {
    const written: string[] = [];
    for (const format of ['text', 'json'] as const)
      lineLogger(format, (line) => written.push(line)).warn('two words', {
        a: 1,
        b: 'c d',
        url: 'https://x?y=1',
      });
    expect(written[0]).toMatch(/^\d{4}-\S+Z warn two words a=1 b="c d" url=https:\/\/x\?y=1$/);
    expect(JSON.parse(written[1] as string)).toMatchObject({ level: 'warn', message: 'two words', b: 'c d' });
  });

  test('something that is not a logger, and an unknown level, are refused', () => {
    const make = (options: object) => () =>
      createClient({ baseUrl: 'https://api.example.com', auth: apiKeys('a', 'b'), ...options });
    expect(make({ logger: { info() {} } })).toThrow(
      'logger must be a logger with debug, info, warn and error',
    );
    expect(make({ logLevel: 'verbose' })).toThrow(
      `logLevel must be 'debug', 'info', 'warn', 'error' or 'off'`,
    );
    expect(make({ logger: console, logLevel: 'warn' })).not.toThrow();
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
    expect(() => page.record(3)).toThrow(ConfigurationError);
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
