import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '@call-attribution/core';
import { type FakeApiServer, fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { createCallByteStream, createCallStream } from '../src/read.ts';
import { hostileClient, readsHostileServers } from './laws/hostile.ts';
import { readsMovingLists, readsMovingPages } from './laws/shifting.ts';

const runs = Number(process.env.CALLS_RUNS ?? 6);
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function clientOf(server: FakeApiServer) {
  const client = hostileClient(server);
  open.push(client);
  return client;
}

async function serve(options: Parameters<typeof fakeApi>[0] = {}) {
  const server = await fakeApi(options).listen();
  open.push(server);
  return server;
}

test('each record of a list that moves is read once, whatever moves where', () =>
  readsMovingLists(5 * runs));

test('seconds of several pages are read completely, or the verdict says that they are not', () =>
  readsMovingPages(5 * runs));

describe('a hostile server over real sockets', () => {
  test('a server that fails, lies, returns fewer rows and moves is read completely, each record once', () =>
    readsHostileServers(runs));

  test('the byte stream has each record as it was sent', async () => {
    const server = await serve({ calls: fixtureCalls(300) });
    const client = clientOf(server);
    const bytes = Buffer.concat(await createCallByteStream(client, { rows: 40 }).toArray());
    const lines = bytes.toString().trimEnd().split('\n');
    const { records } = await client.listCalls({ rows: 500 });
    expect(lines.map((line) => JSON.parse(line).sid)).toEqual(records.map(({ sid }) => sid));
  });
});

describe('line ends in the JSON of a server', () => {
  const ending = (body: Buffer, separator: string) =>
    Buffer.from(body.toString().replaceAll(',"', separator));

  test.each(['\n', '\r\n'])('between values, %j becomes a space in the lines', async (end) => {
    const calls = fixtureCalls(30).map((call) => ({
      ...call,
      ppc_keywords: 'a \\ "quoted" \n word',
    }));
    const server = await serve({
      calls,
      faults: () => ({ change: (r) => ({ ...r, body: ending(r.body, `,${end}"`) }) }),
    });
    const bytes = Buffer.concat(
      await createCallByteStream(clientOf(server), { rows: 7 }).toArray(),
    );
    const lines = bytes.toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).ppc_keywords)).toEqual(
      calls.map(({ ppc_keywords }) => ppc_keywords),
    );
  });

  test.each(['\n', '\r'])(
    'inside a string, %j is no JSON: both streams refuse the record',
    async (end) => {
      const server = await serve({
        calls: fixtureCalls(30).map((call) => ({ ...call, ppc_keywords: 'two words' })),
        faults: () => ({
          change: (r) => ({
            ...r,
            body: Buffer.from(r.body.toString().replace('two words', `two${end}words`)),
          }),
        }),
      });
      const client = clientOf(server);
      const failure = { code: 'invalid_json' };
      await expect(createCallStream(client).toArray()).rejects.toMatchObject(failure);
      await expect(createCallByteStream(client).toArray()).rejects.toMatchObject(failure);
    },
  );
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
  test.each(Object.entries(ways))('%s closes the requests in flight', async (_, leave) => {
    const server = await serve({
      faults: (_request, index) => (index === 0 ? undefined : { stall: 0.5 }),
      calls: fixtureCalls(100),
    });
    const abort = new AbortController();
    const stream = createCallStream(clientOf(server), {
      rows: 30,
      prefetch: 4,
      signal: abort.signal,
    });
    stream.resume();
    while (server.requests.length < 2) await delay(2);
    await leave(stream, abort);
    expect((await server.abortSeen()).aborted).toBe(true);
    expect(stream.verdict()).toMatchObject({ proof: 'unproven', gaps: [{ why: 'unread' }] });
  });

  test.each(['items', 'pages'])(
    'break out of its %s closes the requests in flight',
    async (kind) => {
      const server = await serve({
        faults: (_request, index) => (index < 3 ? undefined : { stall: 0.5 }),
        calls: fixtureCalls(100),
      });
      const stream = createCallStream(clientOf(server), { rows: 30, prefetch: 4 });
      for await (const _ of kind === 'items' ? stream : stream.pages()) {
        while (server.requests.length < 4) await delay(2);
        break;
      }

      await server.abortSeen();
      expect(stream.destroyed).toBe(true);
      expect(stream.verdict()).toMatchObject({ proof: 'unproven', gaps: [{ why: 'unread' }] });
    },
  );

  test('a failing pipeline closes the requests in flight', async () => {
    const server = await serve({
      faults: (_request, index) => (index < 3 ? undefined : { stall: 0.5 }),
      calls: fixtureCalls(100),
    });
    const stream = createCallStream(clientOf(server), { rows: 30, prefetch: 4 });
    const sink = new Writable({
      objectMode: true,
      write: (_chunk, _encoding, done) => done(new Error('disk full')),
    });
    await expect(pipeline(stream, sink)).rejects.toThrow('disk full');
    await server.abortSeen();
  });

  test('a stream that is left before it was read sends no request', async () => {
    const server = await serve();
    createCallStream(clientOf(server), {}).destroy();
    await delay(20);
    expect(server.requests).toHaveLength(0);
  });

  test('a signal that is aborted already sends no request', async () => {
    const server = await serve();
    const stream = createCallStream(clientOf(server), { signal: AbortSignal.abort() });
    await expect(stream.toArray()).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.requests).toHaveLength(0);
  });
});

describe('a read that fails', () => {
  test('the error comes after the calls before it, and the read goes on from the checkpoint', async () => {
    const server = await serve({
      calls: fixtureCalls(200),
      faults: (_, index) => (index < 6 ? undefined : { status: 403 }),
    });
    const stream = createCallStream(clientOf(server), { rows: 30, prefetch: 2 });
    const sids: string[] = [];

    const read = async () => {
      for await (const { sid } of stream) {
        sids.push(sid);
        await delay(1);
      }
    };

    const error = await read().catch((failure) => failure);
    expect(error).toMatchObject({ code: 'unauthorized', isRetryable: false, status: 403 });
    expect(sids.length).toBeGreaterThan(50);
    expect(stream.verdict()).toMatchObject({ proof: 'unproven', failure: error.message });

    server.next(...Array.from({ length: 50 }, () => ({})));
    const checkpoint = stream.checkpoint();
    const rest = await createCallStream(clientOf(server), { rows: 30, checkpoint }).toArray();
    expect([...sids, ...rest.map((call: Call) => call.sid)]).toEqual(
      server.calls.map(({ sid }) => sid),
    );
  });

  test('a server without totals is read page by page, unproven', async () => {
    const server = await serve({
      calls: fixtureCalls(70),
      cap: 20,
      faults: () => ({ range: 'none' }),
    });
    const stream = createCallStream(clientOf(server), { rows: 20 });
    expect(await stream.toArray()).toHaveLength(70);
    expect(stream.verdict()).toMatchObject({
      proof: 'unproven',
      proved: 0,
      gaps: [{ why: 'no_total' }],
    });
  });
});
