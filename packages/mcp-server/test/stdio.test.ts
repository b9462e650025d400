import { PassThrough } from 'node:stream';
import { makeCalls } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createServer, serveStdio } from '../src/index.ts';
import { type FakeOptions, fakeClient } from './support/fake-client.ts';

type Message = {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
};

const revision = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

/** A connected server and what it writes. */
function connect(options: FakeOptions = {}) {
  const input = new PassThrough();
  const lines: string[] = [];
  const log: string[] = [];
  const waiting: { matches: (message: Message) => boolean; resolve: (message: Message) => void }[] = [];
  const connection = serveStdio(createServer(fakeClient(makeCalls(30), options)), {
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
  const request = (message: { id: unknown }) => {
    send(message);
    return until((each) => each.id === message.id && !each.method);
  };
  return { input, lines, log, seen, until, send, request, connection };
}

describe('over stdio', () => {
  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])(
    'a client of %s initializes, lists tools and calls one',
    async (version) => {
      const { request, send, connection } = connect();
      expect((await request(initialize(version))).result).toMatchObject({
        protocolVersion: version,
        serverInfo: { name: 'call-attribution' },
      });
      send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      const { result } = await request({ jsonrpc: '2.0', id: 1, method: 'tools/list' } as never);
      expect(result?.tools).toHaveLength(6);
      const call = await request({
        jsonrpc: '2.0',
        id: 'a',
        method: 'tools/call',
        params: { name: 'count_calls', arguments: {} },
      } as never);
      expect(call.result?.structuredContent).toMatchObject({ total: 30 });
      connection.close();
    },
  );

  it('a client of 2026-07-28 needs no handshake, and every result says its type', async () => {
    const { request, connection } = connect();
    const discover = await request({
      jsonrpc: '2.0',
      id: 1,
      method: 'server/discover',
      params: { _meta: meta },
    } as never);
    expect(discover.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [revision],
      ttlMs: expect.any(Number),
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'call-attribution' } },
    });
    const list = await request({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/list',
      params: { _meta: meta },
    } as never);
    expect(list.result).toMatchObject({
      resultType: 'complete',
      ttlMs: expect.any(Number),
      cacheScope: 'public',
    });
    const read = await request({
      jsonrpc: '2.0',
      id: 3,
      method: 'resources/read',
      params: { _meta: meta, uri: 'calls://fields' },
    } as never);
    expect(read.result).toMatchObject({ cacheScope: 'private' });
    const call = await request({
      jsonrpc: '2.0',
      id: 4,
      method: 'tools/call',
      params: { _meta: meta, name: 'count_calls' },
    } as never);
    expect(call.result).toMatchObject({ resultType: 'complete', structuredContent: { total: 30 } });
    expect(call.result).not.toHaveProperty('ttlMs');
    connection.close();
  });

  it.each([
    ['initialize', -32601],
    ['ping', -32601],
    ['logging/setLevel', -32601],
    ['resources/subscribe', -32601],
    ['no/such', -32601],
    ['constructor', -32601],
  ])('refuses the 2026-07-28 request %s with error %i', async (method, code) => {
    const { request, connection } = connect();
    expect(
      (await request({ jsonrpc: '2.0', id: 1, method, params: { _meta: meta } } as never)).error?.code,
    ).toBe(code);
    connection.close();
  });

  it('refuses an unknown version and names those it supports', async () => {
    const { request, connection } = connect();
    const unknown = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const { error } = await request({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      params: { _meta: unknown },
    } as never);
    expect(error).toMatchObject({ code: -32022, data: { supported: [revision], requested: '2099-01-01' } });
    connection.close();
  });

  it('serves both families of revisions on one connection', async () => {
    const { request, connection } = connect();
    const [old, modern] = await Promise.all([
      request({ jsonrpc: '2.0', id: 'old', method: 'ping' } as never),
      request({ jsonrpc: '2.0', id: 'new', method: 'tools/list', params: { _meta: meta } } as never),
    ]);
    expect(old.result).toEqual({});
    expect(modern.result?.tools).toHaveLength(6);
    connection.close();
  });

  it.each(['2025', '2026'])('sends progress only with a progress token (%s)', async (family) => {
    const { request, seen, connection } = connect();
    const base = family === '2026' ? meta : {};
    const call = (id: string, _meta: object) =>
      request({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { _meta, name: 'summarize_calls', arguments: {} },
      } as never);
    await call('quiet', base);
    expect(seen().some((message) => message.method === 'notifications/progress')).toBe(false);
    await call('loud', { ...base, progressToken: 7 });
    expect(seen().find((message) => message.method === 'notifications/progress')?.params).toMatchObject({
      progressToken: 7,
      progress: 30,
      total: 30,
    });
    connection.close();
  });

  it.each(['2025', '2026'])('aborts a cancelled call and sends no response to it (%s)', async (family) => {
    let aborted: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => {
      aborted = resolve;
    });
    let begun: () => void = () => undefined;
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { send, request, seen, connection } = connect({
      before: ({ signal }) =>
        new Promise((_, reject) => {
          begun();
          signal?.addEventListener('abort', () => {
            aborted();
            reject(signal.reason);
          });
        }),
    });
    const params = { name: 'list_calls', arguments: {}, ...(family === '2026' ? { _meta: meta } : {}) };
    send({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params });
    await running;
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } });
    await stopped;
    await request({ jsonrpc: '2.0', id: 'after', method: 'ping' } as never);
    expect(seen().some((message) => message.id === 'slow')).toBe(false);
    connection.close();
  });

  it('finishes running calls after its input has ended, then closes', async () => {
    const { input, send, seen, connection } = connect({
      before: () => new Promise((resolve) => setTimeout(resolve, 20)),
    });
    send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_calls', arguments: {} } });
    send({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'list_calls', arguments: {}, _meta: meta },
    });
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
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['{"jsonrpc":"1.0","id":9,"method":"ping"}', -32600],
    ['42', -32600],
  ])('responds to %s with error %i and keeps serving', async (line, code) => {
    const { send, until, request, connection } = connect();
    send(line);
    expect((await until((message) => message.error !== undefined)).error?.code).toBe(code);
    expect((await request({ jsonrpc: '2.0', id: 'next', method: 'ping' } as never)).result).toEqual({});
    connection.close();
  });

  it('reads characters and lines that were cut anywhere, and drops a line that is too long', async () => {
    const { input, log, until, connection } = connect();
    const bytes = Buffer.from(`{"jsonrpc":"2.0","id":"ü€😀","method":"ping"}\r\n`);
    for (const byte of bytes) input.write(Buffer.from([byte]));
    expect((await until((message) => message.id === 'ü€😀')).result).toEqual({});
    input.write(Buffer.alloc(5 * 1024 * 1024, 'x'));
    input.write('\n{"jsonrpc":"2.0","id":"after","method":"ping"}\n');
    expect((await until((message) => message.id === 'after')).result).toEqual({});
    expect(log.join()).toContain('A line of more than 4194304 bytes was dropped.');
    connection.close();
  });

  it('writes one JSON-RPC message per line, whatever it receives', async () => {
    const { send, lines, request, connection } = connect();
    const method = fc.constantFrom(
      'tools/call',
      'tools/list',
      'prompts/get',
      'resources/read',
      'completion/complete',
      'x',
    );
    const message = fc.record({
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
      method,
      params: fc.oneof(
        fc.dictionary(
          fc.constantFrom('name', 'arguments', 'uri', 'ref', 'argument', '_meta'),
          fc.jsonValue(),
        ),
        fc.jsonValue(),
      ),
    });
    for (const each of fc.sample(fc.oneof(message, fc.jsonValue()), Number(process.env.CALLS_RUNS ?? 150)))
      send(each);
    await request({ jsonrpc: '2.0', id: 'the end', method: 'ping' } as never);
    for (const line of lines) {
      expect(line.endsWith('\n') && !line.slice(0, -1).includes('\n')).toBe(true);
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
    }
    connection.close();
  });
});
