import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { apiKeys, type Call, createClient } from '@call-attribution/core';
import {
  type Fault,
  faults,
  fixtureCalls,
  type HostileServer,
  startHostileServer,
} from '@call-attribution/core/testing';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { createCallByteStream } from '../src/source/call-byte-stream.ts';
import { createCallStream } from '../src/source/call-stream.ts';

const numRuns = Number(process.env.CALLS_RUNS ?? 25);
const now = () => Date.UTC(2026, 5, 1);
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A client of a hostile server that is patient, but not slow. */
function clientOf(server: HostileServer, attempts = 14) {
  const client = createClient({
    baseUrl: server.url,
    auth: apiKeys('key', 'secret'),
    retry: { attempts, baseDelay: 1, maxDelay: 3 },
    timeout: { attempt: 5000 },
  });
  open.push(client);
  return client;
}

async function serve(options: Parameters<typeof startHostileServer>[0] = {}) {
  const server = await startHostileServer(options);
  open.push(server);
  return server;
}

const whims: Record<string, () => Fault> = {
  none: () => faults.none(),
  busy: () => faults.rateLimited(0),
  broken: () => faults.status(503),
  cut: () => faults.cutBody(0.6),
  cutQuietly: () => faults.cutQuietly(0.7),
  html: () => faults.html(),
  reset: () => faults.reset(),
  gzip: () => faults.gzip(),
  br: () => faults.br(),
  wrongPage: () => faults.wrongPage(),
  rangeTooLong: () => faults.rangeTooLong(),
  brokenUtf8: () => faults.brokenUtf8(),
};

describe('a hostile server over real sockets', () => {
  test('that fails, lies, clamps and shifts is read whole, each record once', {
    timeout: 20_000 + numRuns * 400,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          count: fc.integer({ min: 0, max: 250 }),
          rows: fc.integer({ min: 8, max: 60 }),
          maxRows: fc.option(fc.integer({ min: 8, max: 40 }), { nil: undefined }),
          prefetch: fc.integer({ min: 1, max: 8 }),
          asBytes: fc.boolean(),
          version: fc.constant('v3'),
          script: fc.array(
            fc.record({
              whim: fc.constantFrom(...Object.keys(whims)),
              move: fc.constantFrom('none', 'none', 'insert', 'remove', 'swap'),
              at: fc.nat(300),
            }),
            { maxLength: 40 },
          ),
        }),
        async ({ count, rows, maxRows, prefetch, asBytes, script }) => {
          const calls = fixtureCalls(count);
          const must = new Set(calls.map(({ sid }) => sid));
          const may = new Set(must);
          const extra = fixtureCalls(50, 2);
          const server = await startHostileServer({
            calls,
            ...(maxRows === undefined ? {} : { maxRows }),
            fault: (_, index) => {
              const { whim, move, at } = script[index % (script.length + 20)] ?? {
                whim: 'none',
                move: 'none',
                at: 0,
              };
              return {
                ...(whims[whim] as () => Fault)(),
                before(served) {
                  if ((move === 'remove' || move === 'swap') && served.length > 0) {
                    must.delete((served.splice(at % served.length, 1)[0] as Call).sid);
                  }
                  const fresh = move === 'insert' || move === 'swap' ? extra.pop() : undefined;
                  if (fresh === undefined) return;
                  may.add(fresh.sid);
                  served.splice(at % (served.length + 1), 0, fresh);
                },
              };
            },
          });
          const client = clientOf(server);
          const sids: string[] = [];
          const options = { rows, prefetch, now };
          if (asBytes) {
            const text = (await createCallByteStream(client, options).toArray()).map(String).join('');
            sids.push(
              ...text
                .split('\n')
                .filter(Boolean)
                .map((line) => JSON.parse(line).sid),
            );
          } else {
            for await (const { sid } of createCallStream(client, options)) sids.push(sid);
          }
          await client.close();
          await server.close();
          expect(new Set(sids).size).toBe(sids.length);
          expect([...must].filter((sid) => !sids.includes(sid))).toEqual([]);
          expect(sids.filter((sid) => !may.has(sid))).toEqual([]);
        },
      ),
      { numRuns },
    );
  });

  test('has each record in the byte stream as it was sent', async () => {
    const server = await serve({ calls: fixtureCalls(300) });
    const client = clientOf(server);
    const bytes = Buffer.concat(await createCallByteStream(client, { rows: 40, now }).toArray());
    const lines = bytes.toString().trimEnd().split('\n');
    const { records } = await client.listCalls({ rows: 500 });
    expect(lines.map((line) => JSON.parse(line).sid)).toEqual(records.map(({ sid }) => sid));
  });
});

describe('leaving a stream', () => {
  const ways: Record<
    string,
    (stream: ReturnType<typeof createCallStream>, abort: AbortController) => Promise<unknown>
  > = {
    destroy: async (stream) => {
      stream.destroy();
    },
    'an error': async (stream) => {
      stream.on('error', () => {});
      stream.destroy(new Error('enough'));
    },
    'its signal': async (stream, abort) => {
      stream.on('error', () => {});
      abort.abort();
    },
  };
  test.each(Object.entries(ways))('by %s closes the requests in flight', async (_, leave) => {
    const server = await serve({
      fault: (_request, index) => (index === 0 ? undefined : faults.stall()),
      calls: fixtureCalls(100),
    });
    const abort = new AbortController();
    const stream = createCallStream(clientOf(server), { rows: 30, prefetch: 4, now, signal: abort.signal });
    stream.resume();
    while (server.requests.length < 2) await delay(2);
    await leave(stream, abort);
    expect((await server.abortSeen()).aborted).toBe(true);
    expect((await stream.verdict.catch((error) => error)).complete ?? false).toBe(false);
  });

  test('by break closes the requests in flight', async () => {
    const server = await serve({
      fault: (_request, index) => (index < 3 ? undefined : faults.stall()),
      calls: fixtureCalls(100),
    });
    const stream = createCallStream(clientOf(server), { rows: 30, prefetch: 4, now });
    for await (const _ of stream) {
      while (server.requests.length < 4) await delay(2);
      break;
    }
    await server.abortSeen();
    expect((await stream.verdict).complete).toBe(false);
  });

  test('by break out of its pages closes the requests in flight', async () => {
    const server = await serve({
      fault: (_request, index) => (index < 3 ? undefined : faults.stall()),
      calls: fixtureCalls(100),
    });
    const stream = createCallStream(clientOf(server), { rows: 30, prefetch: 4, now });
    for await (const _ of stream.pages()) {
      while (server.requests.length < 4) await delay(2);
      break;
    }
    await server.abortSeen();
    expect(stream.destroyed).toBe(true);
  });

  test('by a failing pipeline closes the requests in flight', async () => {
    const server = await serve({
      fault: (_request, index) => (index < 3 ? undefined : faults.stall()),
      calls: fixtureCalls(100),
    });
    const stream = createCallStream(clientOf(server), { rows: 30, prefetch: 4, now });
    const sink = new Writable({
      objectMode: true,
      write: (_chunk, _encoding, done) => done(new Error('disk full')),
    });
    await expect(pipeline(stream, sink)).rejects.toThrow('disk full');
    await server.abortSeen();
  });

  test('before it was read asks for nothing', async () => {
    const server = await serve();
    createCallStream(clientOf(server), { now }).destroy();
    await delay(20);
    expect(server.requests).toHaveLength(0);
  });

  test('with a signal that has fired already asks for nothing', async () => {
    const server = await serve();
    const stream = createCallStream(clientOf(server), { now, signal: AbortSignal.abort() });
    await expect(stream.toArray()).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.requests).toHaveLength(0);
  });
});

describe('a failure', () => {
  test('comes behind the records before it, with slice, page and checkpoint to go on from', async () => {
    const server = await serve({
      calls: fixtureCalls(200),
      fault: (_, index) => (index < 6 ? undefined : faults.status(403)),
    });
    const stream = createCallStream(clientOf(server), { rows: 30, prefetch: 2, now });
    const sids: string[] = [];
    const read = async () => {
      for await (const { sid } of stream) {
        sids.push(sid);
        await delay(1);
      }
    };
    const error = await read().catch((failure) => failure);
    expect(error).toMatchObject({
      name: 'StreamError',
      code: 'forbidden',
      isRetryable: false,
      page: 0,
      cause: { status: 403 },
    });
    expect(sids.length).toBeGreaterThan(50);
    expect(error.checkpoint.delivered).toBe(sids.length);
    await expect(stream.verdict).rejects.toBe(error);

    server.next(...Array.from({ length: 50 }, () => faults.none()));
    const rest = await createCallStream(clientOf(server), {
      rows: 30,
      now,
      checkpoint: error.checkpoint,
    }).toArray();
    expect([...sids, ...rest.map((call: Call) => call.sid)]).toEqual(server.calls.map(({ sid }) => sid));
  });

  test('of a server without totals is an incomplete end, unless a report is enough', async () => {
    const server = await serve({ calls: fixtureCalls(70), maxRows: 20, fault: () => faults.noRange() });
    const client = clientOf(server);
    const stream = createCallStream(client, { rows: 30, now });
    const calls: unknown[] = [];
    const error = await (async () => {
      for await (const call of stream) calls.push(call);
    })().catch((failure) => failure);
    expect(calls).toHaveLength(70);
    expect(error).toMatchObject({ name: 'IncompleteError', code: 'incomplete', expected: null, got: 70 });
    const quiet = createCallStream(client, { rows: 30, now, incomplete: 'report' });
    expect(await quiet.toArray()).toHaveLength(70);
    expect(await quiet.verdict).toMatchObject({ complete: false, total: null, delivered: 70 });
  });
});
