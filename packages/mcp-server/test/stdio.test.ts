import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createServer, serveStdio } from '../src/index.ts';
import { toolsThatRead } from './support/ask.ts';
import { type FakeOptions, fakeClient, websiteCalls } from './support/fake-client.ts';
import { fuzz } from './support/fuzz.ts';
import { held } from './support/held.ts';
import { initialize, meta, revision, rpc } from './support/rpc.ts';

type Message = {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
};

/** A connected server and what it writes. */
function connect(options: FakeOptions = {}) {
  const input = new PassThrough();
  const lines: string[] = [];
  const log: string[] = [];
  const waiting: { matches: (message: Message) => boolean; resolve: (message: Message) => void }[] =
    [];
  const connection = serveStdio(createServer(fakeClient(websiteCalls(30), options)), {
    input,
    write(line) {
      lines.push(line);
      const message = JSON.parse(line) as Message;
      for (const each of waiting) if (each.matches(message)) each.resolve(message);
    },
    log: (line) => log.push(line),
  });
  const seen = () => lines.map((line) => JSON.parse(line) as Message);

  const until = (matches: (message: Message) => boolean): Promise<Message> =>
    new Promise((resolve) => {
      const found = seen().find(matches);
      if (found) resolve(found);
      else waiting.push({ matches, resolve });
    });

  const send = (message: unknown) =>
    input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  let requests = 0;

  const request = (method: string, params: object = {}, id: unknown = `request ${++requests}`) => {
    send(rpc(method, params, id));
    return until((each) => each.id === id && !each.method);
  };

  return { input, lines, log, seen, until, send, request, connection };
}

describe('a connection over stdio', () => {
  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])(
    'initializes, lists tools and calls one for a client of %s',
    async (version) => {
      const { request, send, connection } = connect();
      const { result: initialized } = await request('initialize', initialize(version).params);
      expect(initialized).toMatchObject({
        protocolVersion: version,
        serverInfo: { name: 'call-attribution' },
      });
      send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      expect((await request('tools/list', {}, 1)).result?.tools).toHaveLength(toolsThatRead.length);
      const call = await request('tools/call', { name: 'count_calls', arguments: {} }, 'a');
      expect(call.result?.structuredContent).toMatchObject({ total: 30 });
      connection.close();
    },
  );

  it('needs no handshake with a client of 2026-07-28, and every result says its type', async () => {
    const { request, connection } = connect();
    expect((await request('server/discover', { _meta: meta }, 1)).result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [revision],
      ttlMs: expect.any(Number),
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'call-attribution' } },
    });
    expect((await request('tools/list', { _meta: meta }, 2)).result).toMatchObject({
      resultType: 'complete',
      ttlMs: expect.any(Number),
      cacheScope: 'public',
    });
    const read = await request('resources/read', { _meta: meta, uri: 'calls://conditions' }, 3);
    expect(read.result).toMatchObject({ cacheScope: 'private' });
    const call = await request('tools/call', { _meta: meta, name: 'count_calls' }, 4);
    expect(call.result).toMatchObject({ resultType: 'complete', structuredContent: { total: 30 } });
    expect(call.result).not.toHaveProperty('ttlMs');
    connection.close();
  });

  it.each([
    ['initialize', -32601],
    ['ping', -32601],
    ['no/such', -32601],
    ['constructor', -32601],
  ])('refuses the 2026-07-28 request %s with error %i', async (method, code) => {
    const { request, connection } = connect();
    expect((await request(method, { _meta: meta })).error?.code).toBe(code);
    connection.close();
  });

  it('refuses an unknown version and names those it supports', async () => {
    const { request, connection } = connect();
    const unknown = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const { error } = await request('tools/list', { _meta: unknown });
    expect(error).toMatchObject({
      code: -32022,
      data: { supported: [revision], requested: '2099-01-01' },
    });
    connection.close();
  });

  it('serves both families of revisions', async () => {
    const { request, connection } = connect();
    const [old, stateless] = await Promise.all([
      request('ping'),
      request('tools/list', { _meta: meta }),
    ]);
    expect(old.result).toEqual({});
    expect(stateless.result?.tools).toHaveLength(toolsThatRead.length);
    connection.close();
  });

  it.each(['2025', '2026'])('sends progress only with a progress token (%s)', async (family) => {
    const { request, seen, connection } = connect();
    const base = family === '2026' ? meta : {};
    const summarize = (_meta: object) =>
      request('tools/call', { _meta, name: 'analyze_calls', arguments: {} });
    await summarize({ ...base, progressToken: 7 });
    const sent = seen().filter((message) => message.method === 'notifications/progress');
    expect(sent.at(-1)?.params).toMatchObject({ progressToken: 7, progress: 30, total: 30 });
    await summarize(base);
    expect(seen().filter((message) => message.method === 'notifications/progress')).toEqual(sent);
    connection.close();
  });

  it.each(['2025', '2026'])(
    'aborts a cancelled call and sends no response to it (%s)',
    async (family) => {
      const { before, begun, aborted } = held();
      const { send, request, seen, connection } = connect({ before });
      const params = {
        name: 'list_calls',
        arguments: {},
        ...(family === '2026' ? { _meta: meta } : {}),
      };
      send(rpc('tools/call', params, 'slow'));
      await begun;
      send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } });
      await aborted;
      await request('ping');
      expect(seen().some((message) => message.id === 'slow')).toBe(false);
      connection.close();
    },
  );

  it('finishes running calls after its input has ended, then closes', async () => {
    const { input, send, seen, connection } = connect({
      before: () => new Promise((resolve) => setTimeout(resolve, 20)),
    });
    send(rpc('tools/call', { name: 'list_calls', arguments: {} }, 1));
    send(rpc('tools/call', { name: 'list_calls', arguments: {}, _meta: meta }, 2));
    input.end();
    await connection.closed;
    expect(
      seen()
        .map((message) => message.id)
        .sort(),
    ).toEqual([1, 2]);
  });

  it.each([
    ['{"jsonrpc":"2.0","id":1', -32700],
    ['[]', -32600],
    ['42', -32600],
  ])('responds to %s with error %i and keeps serving', async (line, code) => {
    const { send, until, request, connection } = connect();
    send(line);
    expect((await until((message) => message.error !== undefined)).error?.code).toBe(code);
    expect((await request('ping')).result).toEqual({});
    connection.close();
  });

  it('reads characters and lines that were cut anywhere', async () => {
    const { input, until, connection } = connect();
    const bytes = Buffer.from(`{"jsonrpc":"2.0","id":"ü€😀","method":"ping"}\r\n`);
    for (const byte of bytes) input.write(Buffer.from([byte]));
    expect((await until((message) => message.id === 'ü€😀')).result).toEqual({});
    connection.close();
  });

  it.each(['handshake', 'stateless'] as const)(
    'answers anything that a client of the %s revisions sends with a result or a sentence',
    async (era) => expect((await fuzz(era, 150, 7)).faults).toEqual([]),
  );

  it.each([null, 'text', '[]', [1], 7])(
    'takes %j as arguments, or says that it cannot',
    async (args) => {
      const { request, connection } = connect();
      await request('initialize', initialize('2025-11-25').params);
      for (const params of [{}, { _meta: meta }]) {
        const asked = { ...params, name: 'count_calls', arguments: args };
        const { result, error } = await request('tools/call', asked);
        if (args === null) expect(result?.structuredContent).toMatchObject({ total: 30 });
        else
          expect(error).toEqual({
            code: -32602,
            message: 'The arguments must be one JSON object.',
          });
      }

      connection.close();
    },
  );

  it('refuses a line that is too long, by its id where it can be seen', async () => {
    const { send, request, log, until, connection } = connect();
    const long = 'x'.repeat(4 * 1024 * 1024);
    send({ jsonrpc: '2.0', id: 'first', method: 'ping', params: { long } });
    send({ method: 'ping', params: { long }, jsonrpc: '2.0', id: 8 });
    send(`{"${long}":1}`);
    for (const id of ['first', 8, null]) {
      const refused = {
        code: -32600,
        message: 'Invalid Request: a line may have at most 4194304 bytes.',
      };
      expect((await until((each) => each.id === id)).error).toEqual(refused);
    }

    expect((await request('ping')).result).toEqual({});
    expect(log.join()).toContain('A line of more than 4194304 bytes was refused.');
    connection.close();
  });
});
