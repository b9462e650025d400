import { AsyncLocalStorage } from 'node:async_hooks';
import { type Channel, channel, tracingChannel } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import {
  apiKeys,
  type Call,
  type ClientOptions,
  createClient,
  type Logger,
  lineLogger,
} from '@call-attribution/core';
import { createManualClock, createMockAgent, fixtureCalls } from '@call-attribution/core/testing';
import { parseNaive } from '@call-attribution/core/time';
import { createTracing, type TraceContext } from '@call-attribution/core/tracing';
import { describe, expect, test, vi } from 'vitest';
import { afterwards, collect, failure, serve } from './support.ts';

type Seen = { name: string; phase: string; event: Record<string, unknown> };
const operations = ['request', 'attempt', 'wait'];

/** Collects what is published on the channels of clients until the test is over. */
function listen(phases: readonly ('start' | 'asyncEnd')[] = ['asyncEnd']): Seen[] {
  const seen: Seen[] = [];

  const hear = (from: Channel, name: string, phase: string) => {
    const listener = (event: unknown) => void seen.push({ name, phase, event: Object(event) });
    from.subscribe(listener);
    afterwards(() => from.unsubscribe(listener));
  };

  for (const name of operations)
    for (const phase of phases)
      hear(tracingChannel(`call-attribution:${name}`)[phase], name, phase);

  hear(channel('call-attribution:report'), 'report', 'now');
  return seen;
}

describe('tracing channels', () => {
  test('the events follow a request over a retry to its end, and say how each operation went', async () => {
    const seen = listen(['start', 'asyncEnd']);
    const { server, client } = await serve();
    server.next({ status: 503 });
    await client.listCalls({ rows: 5 });
    expect(seen.map(({ name, phase }) => `${name} ${phase}`)).toEqual([
      'request start',
      'attempt start',
      'attempt asyncEnd',
      'wait start',
      'wait asyncEnd',
      'attempt start',
      'attempt asyncEnd',
      'request asyncEnd',
    ]);
    const url = `${server.url}/v3/user/bid-management?rows=5`;
    const durationMs = expect.any(Number);
    const { port } = new URL(server.url);
    const ended = (name: string) =>
      seen.filter((one) => one.name === name && one.phase === 'asyncEnd');
    const [first, second] = ended('attempt').map(({ event }) => event);
    expect(first).toEqual({
      client,
      operation: 'list',
      url,
      attempt: 1,
      status: 503,
      code: 'server_error',
      durationMs,
      bytes: expect.any(Number),
      error: expect.objectContaining({ code: 'server_error', attempts: 1 }),
    });
    expect(second).toEqual({
      client,
      operation: 'list',
      url,
      attempt: 2,
      status: 200,
      bytes: expect.any(Number),
      durationMs,
    });
    expect(ended('wait')[0]?.event).toEqual({
      client,
      operation: 'list',
      url,
      reason: 'retry',
      attempts: 1,
      after: 'server_error',
      status: 503,
      waitMs: expect.any(Number),
      durationMs,
    });
    expect(ended('request')[0]?.event).toEqual({
      client,
      operation: 'list',
      method: 'GET',
      url,
      address: '127.0.0.1',
      port: Number(port),
      attempts: 2,
      status: 200,
      durationMs,
    });

    // One object for an operation, from its start to its end: a key for a WeakMap of spans.
    for (const name of operations) {
      const events = (phase: string) =>
        seen.filter((one) => one.name === name && one.phase === phase).map(({ event }) => event);
      for (const [i, event] of events('start').entries()) expect(events('asyncEnd')[i]).toBe(event);
    }
  });

  test('the events say how a request failed, and that it was aborted', async () => {
    const seen = listen();
    const { client } = await serve({
      faults: (_, i) => (i === 0 ? { status: 401 } : { silent: true }),
    });
    const error = await failure(client.countCalls());
    expect(seen.map(({ name, event }) => [name, event.code, event.error === error])).toEqual([
      ['attempt', 'unauthorized', true],
      ['request', 'unauthorized', true],
    ]);
    expect(seen[1]?.event).toMatchObject({ status: 401, attempts: 1 });
    seen.length = 0;
    const stop = new AbortController();
    const aborted = failure(client.getCall('x', { signal: stop.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('enough'));
    await aborted;
    expect(seen.map(({ name, event }) => [name, event.code])).toEqual([
      ['attempt', 'aborted'],
      ['request', 'aborted'],
    ]);
  });

  test('the events say how long the limiter held a request back', async () => {
    const seen = listen();
    const { lines, logger } = keeper();
    const { client } = await serve(
      { faults: () => ({ drip: 4096, dripEvery: 2 }) },
      { limiter: { concurrency: 1 }, logger },
    );
    await Promise.all([client.listCalls(), client.listCalls()]);
    const waits = seen.filter(({ event }) => event.reason === 'limiter');
    expect(waits.map(({ event }) => event.attempts)).toEqual([0]);
    expect(waits[0]?.event.durationMs).toBeGreaterThan(0);
    expect(lines.map(([level, message]) => [level, message])).toEqual([
      ['info', 'call-attribution: held back by the limiter'],
    ]);
  });

  test('the event of a report has what onReport is called with', async () => {
    const seen = listen();
    const reports: unknown[] = [];
    const { client } = await serve({ cap: 5 }, { onReport: (report) => reports.push(report) });
    await client.listCalls({ rows: 8 });
    expect(reports).toEqual([{ type: 'clamped', requested: 8, received: 5 }]);
    expect(seen.filter(({ name }) => name === 'report').map(({ event }) => event)).toEqual(
      reports.map((report) => ({ client, report })),
    );
  });

  /** Binds a path of names to each start, and collects with which path each operation ends. */
  function paths() {
    const path = new AsyncLocalStorage<string>();
    const ended: [name: string, path: string | undefined][] = [];
    for (const name of operations) {
      const { start, asyncEnd } = tracingChannel(`call-attribution:${name}`);
      start.bindStore(path, () => `${path.getStore() ?? ''}/${name}`);
      const end = () => void ended.push([name, path.getStore()]);
      asyncEnd.subscribe(end);
      afterwards(() => [start.unbindStore(path), asyncEnd.unsubscribe(end)]);
    }

    return { path, ended };
  }

  test('attempts and waits run within their request, and that within what the caller has bound', async () => {
    const { path, ended } = paths();
    const { server, client } = await serve();
    server.next({ status: 503 });
    await path.run('caller', () => client.listCalls({ rows: 5 }));
    expect(ended).toEqual([
      ['attempt', 'caller/request/attempt'],
      ['wait', 'caller/request/wait'],
      ['attempt', 'caller/request/attempt'],
      ['request', 'caller/request'],
    ]);
  });

  test('without a subscriber no message is made', async () => {
    const made: string[] = [];
    const tracing = createTracing<TraceContext & { readonly name: string }>('test');

    const run = (name: string) =>
      tracing.run(
        () => {
          made.push(name);
          return { name };
        },
        async () => name,
      );

    expect(await run('unheard')).toBe('unheard');
    const heard: unknown[] = [];
    const { asyncEnd } = tracingChannel('call-attribution:test');
    const hear = (message: unknown) => heard.push(message);
    asyncEnd.subscribe(hear);
    expect(await run('heard')).toBe('heard');
    asyncEnd.unsubscribe(hear);
    await run('unheard again');
    expect(made).toEqual(['heard']);
    expect(heard).toEqual([{ name: 'heard', durationMs: expect.any(Number) }]);
  });

  test('no message has a key, a record, or a number that was typed as an id', async () => {
    const seen = listen(['start', 'asyncEnd']);
    const { server, client } = await serve(
      { calls: fixtureCalls(3).map((call) => ({ ...call, first_name: 'LEAK' })) },
      { headers: { 'x-gateway-token': 'gateway-one' } },
    );
    server.next({ status: 403, headers: { 'x-request-id': 'key-one/gateway-one' } });
    await client.listSmsNumbers().catch(() => {});
    await client.listCalls();
    await client.getCall('555-555-0100').catch(() => {});
    await client.getCall('+49 30 5555 0100').catch(() => {});
    expect(seen.length).toBeGreaterThan(10);
    const shown = inspect(seen, { depth: 9 });
    expect(shown).not.toMatch(/key-one|key-two|gateway-one|LEAK|5555?.?0100/);
    expect(shown).toContain('bid-management/%5Bnumber%5D');
  });
});

describe('the callbacks of a client', () => {
  test('they get the events of that client only', async () => {
    const heard: string[] = [];

    const callbacks = (name: string): Partial<ClientOptions> => {
      const { logger } = keeper();
      const hear = (_: unknown, fields: unknown) =>
        void heard.push(`${name} ${Object(fields).operation ?? 'report'}`);
      return {
        logger: { ...logger, debug: hear, warn: hear },
        logLevel: 'debug',
        onReport: () => heard.push(`${name} onReport`),
      };
    };

    const one = await serve({ cap: 5 }, callbacks('one'));
    const two = await serve({ cap: 5 }, callbacks('two'));
    const silent = await serve({ cap: 5 });
    await silent.client.listCalls({ rows: 8 });
    expect(heard).toEqual([]);
    await one.client.listCalls({ rows: 8 });
    expect(heard.sort()).toEqual(['one list', 'one onReport', 'one report']);
    await two.client.getCall('S1-0000001');
    expect(heard.slice(3)).toEqual(['two get']);
  });

  const fail = () => {
    throw new RangeError('LEAK');
  };

  const reject = async () => fail();
  test.each(
    ['onReport', 'logger', 'onResponse'].flatMap((name) => [
      [name, 'throws', fail] as const,
      [name, 'rejects', reject] as const,
    ]),
  )('%s that %s ends nothing, and is one warning without its message', async (name, _, call) => {
    const warnings: Error[] = [];
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation((warning, more) => {
      warnings.push(Object.assign(new Error(String(warning)), more));
    });
    afterwards(() => warn.mockRestore());
    const logger = { debug: call, info: call, warn: call, error: call };
    const { server, client } = await serve(
      { cap: 5 },
      {
        onReport: name === 'onReport' ? call : undefined,
        ...(name === 'logger' && { logger, logLevel: 'debug' }),
      },
    );
    server.next({ status: 503 });
    const onResponse = name === 'onResponse' ? call : undefined;
    const calls = await collect(client.listCalls({ rows: 8, onResponse }));
    expect(calls).toHaveLength(20);
    await expect(client.getCall('none')).rejects.toMatchObject({ code: 'not_found' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toMatchObject([
      {
        message: expect.stringMatching(`^${name} threw \\(RangeError\\)`),
        code: 'CALLBACK_THREW',
        detail: expect.stringContaining('observe.test.ts'),
      },
    ]);
    expect(inspect(warnings)).not.toContain('LEAK');
  });
});

describe('reports', () => {
  test('each unknown or broken field is reported once, not once for each record', async () => {
    const reports: unknown[] = [];
    const odd = fixtureCalls(20).map((call) => ({ ...call, novel: 1, rank: '9' })) as Call[];
    const { client } = await serve({ calls: odd }, { onReport: (report) => reports.push(report) });
    const calls = await collect(client.listCalls({ rows: 5 }));
    expect(calls.map((call) => (call as Call & { novel: number }).novel)).toEqual(
      Array(20).fill(1),
    );
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
    const { server, client } = await serve({ cap: 5 }, { logger, logLevel: 'debug' });
    server.next({ status: 503 }, { status: 429 });
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
    server.next({ status: 401, headers: { 'x-request-id': 'req-1' } }, { status: 404 });
    await client.countCalls().catch(() => {});
    await client.getCall('x').catch(() => {});
    const [, failed, , notFound] = lines;
    expect(failed).toMatchObject([
      'error',
      'call-attribution: request failed',
      { code: 'unauthorized' },
    ]);
    expect(failed?.[2]).toMatchObject({ requestId: 'req-1', status: 401, attempts: 1 });
    expect(notFound).toMatchObject(['info', 'call-attribution: not found', { status: 404 }]);
  });

  test('pino is called with the fields first; other loggers, also with a child, with the message first', async () => {
    const pino = keeper({ child: () => {} });
    const winston = keeper({ child: () => {}, log: () => {} });
    for (const { logger } of [pino, winston]) {
      const { client } = await serve({ faults: () => ({ status: 401 }) }, { logger });
      await client.countCalls().catch(() => {});
    }

    const fields = expect.objectContaining({ code: 'unauthorized' });
    expect(pino.lines).toEqual([['error', fields, 'call-attribution: request failed']]);
    expect(winston.lines).toEqual([['error', 'call-attribution: request failed', fields]]);
  });

  test('a level leaves out what is below it', async () => {
    const { lines, logger } = keeper();
    const { server, client } = await serve({}, { logger, logLevel: 'error' });
    server.next({ status: 503 });
    await client.listCalls();
    expect(lines).toEqual([]);
    const off = await serve({ faults: () => ({ status: 401 }) }, { logger, logLevel: 'off' });
    await expect(off.client.listCalls()).rejects.toMatchObject({ code: 'unauthorized' });
    expect(lines).toEqual([]);
  });

  test('no line has a key or a number that a server echoes', async () => {
    const written: string[] = [];
    const logger = lineLogger('text', (line) => written.push(line));
    const echo = 'key-one/key-two/+15555550100';
    const odd = [
      { ...fixtureCalls(1)[0], '+1 555 555 0100': 1, k15555550100: 1 },
    ] as unknown as Call[];
    const { server, client } = await serve(
      { calls: odd },
      { logger, logLevel: 'debug', limiter: { concurrency: 1 } },
    );
    await client.listCalls();
    server.next(
      { status: 503, headers: { 'x-request-id': echo, 'retry-after': '0' } },
      { status: 403, headers: { 'x-request-id': echo, location: `/${echo}` } },
    );
    await client.listCalls().catch(() => {});
    await client.listSmsNumbers().catch(() => {});

    // A time and a port may have these digits, too.
    const said = written.join('\n').replace(/^\S+|127\.0\.0\.1:\d+/gm, '');
    expect(said).toMatch(
      / error call-attribution: request failed operation=list code=unauthorized /,
    );
    expect(said).toContain('requestId=[secret]/[secret]/[number]');
    expect(said).not.toMatch(/key-one|key-two|555/);
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
    expect(JSON.parse(written[1] as string)).toMatchObject({
      level: 'warn',
      message: 'two words',
      b: 'c d',
    });
  });

  test.each(['text', 'json'] as const)(
    'no control character reaches a line in the form %s',
    (format) => {
      const written: string[] = [];
      const code = 'a\u001b]0;x\u0007\u009b2J\u007f\u202eb';
      lineLogger(format, (line) => written.push(line)).warn(code, { code, plain: '\u001b[2J' });
      expect(written[0]).not.toMatch(/\p{Cc}|\u202e/u);
      expect(written[0]).toContain('\\u001b]0;x\\u0007\\u009b2J\\u007f\\u202eb');
      if (format === 'json')
        expect(JSON.parse(written[0] ?? '')).toMatchObject({ message: code, code });
    },
  );
});

describe('the response of a result', () => {
  test('status, headers, request id and attempts of the response are available', async () => {
    const headers = { 'x-request-id': 'req-1', 'set-cookie': 'session=secret', 'x-served-by': 'a' };
    const { client } = await serve({
      faults: () => ({
        change: (answer) => ({ ...answer, headers: { ...answer.headers, ...headers } }),
      }),
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
      (await serve({ faults: () => ({ status: 500, headers }) })).client.listCalls(),
    ).rejects.toMatchObject({ requestId: 'req-1' });
  });

  test('a raw page has its bytes, and its records with their id, time, account and place, read or not', async () => {
    const { server, client } = await serve();
    const page = await client.fetchPage({ rows: 3, page: 1 });
    const items = page.items();
    const [first] = items;
    const { sid, date_added, acct_id } = server.calls[3] as Call;
    expect(page).toMatchObject({ count: 3, range: { first: 4, last: 6, total: 20 } });
    expect(
      JSON.parse(Buffer.from(page.bytes.subarray(first?.start, first?.end)).toString()),
    ).toEqual(server.calls[3]);
    expect(first).toMatchObject({ id: sid, at: parseNaive(date_added), account: String(acct_id) });
    expect(items.map((item) => item.read())).toEqual(server.calls.slice(3, 6));
    expect(items.map(({ index, page: own }) => [index, own === page])).toEqual([
      [0, true],
      [1, true],
      [2, true],
    ]);
    expect(page.items()).toBe(items);
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
    const client = createClient({
      baseUrl: 'https://api.example.com',
      auth: apiKeys('a', 'b'),
      dispatcher,
    });
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
