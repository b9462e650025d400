import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { createServer, mountHttp } from '../../src/index.ts';
import { toolsThatRead } from '../support/ask.ts';
import { fakeClient, websiteCalls } from '../support/fake-client.ts';
import { gate, held } from '../support/held.ts';
import { ping, plain, send, stateless, token, useEndpoint } from '../support/http.ts';
import { meta, rpc } from '../support/rpc.ts';

const { start, stop } = useEndpoint();

/** A question about all 30 calls is answered, and told how far it is on the way. */
async function analyzesAll(client: Client): Promise<void> {
  const progress: unknown[] = [];
  const result = await client.callTool(
    { name: 'analyze_calls', arguments: { calls: 'all' } },
    undefined,
    {
      onprogress: (each) => progress.push(each.progress),
    },
  );
  expect(result.structuredContent).toMatchObject({ calls: 30, complete: true });
  expect(progress).toEqual([30]);
}

describe('the HTTP endpoint', () => {
  it('serves the client of the SDK', async () => {
    const url = await start();
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
    expect((await client.listTools()).tools).toHaveLength(toolsThatRead.length);
    await analyzesAll(client);
    await client.close();
  });

  it('serves a client of 2026-07-28 without a session, as JSON', async () => {
    const url = await start();
    const response = await send(url, {
      headers: stateless('tools/call', { 'mcp-name': 'count_calls' }),
      body: rpc('tools/call', { _meta: meta, name: 'count_calls' }),
    });
    expect(response.status).toBe(200);
    expect(response.headers['mcp-session-id']).toBeUndefined();
    expect(response.json).toMatchObject({
      id: 1,
      result: { resultType: 'complete', structuredContent: { total: 30 } },
    });
  });

  it('streams the progress of a 2026-07-28 call before its result', async () => {
    const url = await start();
    const response = await send(url, {
      headers: stateless('tools/call', { 'mcp-name': 'analyze_calls' }),
      body: rpc('tools/call', { _meta: { ...meta, progressToken: 'p' }, name: 'analyze_calls' }),
    });
    expect(response.headers['content-type']).toBe('text/event-stream');
    const events = response.text.split('\n').filter((line) => line.startsWith('data: '));
    expect(events.map((line) => JSON.parse(line.slice(6))).slice(-2)).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'p', progress: 30 } },
      { id: 1, result: { resultType: 'complete' } },
    ]);
  });

  it.each<[string, Record<string, string>, object, number, number]>([
    ['without _meta', stateless('tools/list'), rpc('tools/list'), 400, -32602],
    [
      'with another version header',
      { ...stateless('tools/list'), 'mcp-protocol-version': '2027-01-01' },
      rpc('tools/list', { _meta: meta }),
      400,
      -32020,
    ],
    [
      'with another Mcp-Method',
      stateless('tools/call'),
      rpc('tools/list', { _meta: meta }),
      400,
      -32020,
    ],
    ['for an unknown method', stateless('x/y'), rpc('x/y', { _meta: meta }), 404, -32601],
    [
      'for a method of the handshake revisions',
      stateless('ping'),
      rpc('ping', { _meta: meta }),
      404,
      -32601,
    ],
    [
      'for an unknown resource',
      stateless('resources/read', { 'mcp-name': 'calls://x' }),
      rpc('resources/read', { _meta: meta, uri: 'calls://x' }),
      200,
      -32602,
    ],
  ])('refuses a 2026-07-28 request %s', async (_what, headers, body, status, code) => {
    const response = await send(await start(), { headers, body });
    expect(response.status).toBe(status);
    expect(response.json).toMatchObject({ id: 1, error: { code } });
  });

  it('responds to a batch of 2025-03-26, and to notifications alone with 202', async () => {
    const url = await start();
    const batch = [
      rpc('ping', {}, 'a'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      rpc('tools/list', {}, 'b'),
    ];
    const response = await send(url, { headers: plain, body: batch });
    expect(response.events.map(({ id }) => id).sort()).toEqual(['a', 'b']);
    expect((await send(url, { headers: plain, body: batch[1] })).status).toBe(202);
    expect((await send(url, { headers: plain, body: [] })).status).toBe(400);
    expect((await send(url, { headers: plain, body: Array(101).fill(batch[0]) })).status).toBe(400);
  });

  it.each(['a batch', 'requests'])(
    'lets at most eight calls of %s read the API at a time',
    async (kind) => {
      let running = 0;
      let most = 0;

      const before = async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running -= 1;
      };

      const url = await start({}, { before });
      const asked = Array.from({ length: 50 }, (_, i) =>
        rpc('tools/call', { name: 'list_calls', arguments: { rows: 1 } }, i),
      );
      const bodies = kind === 'a batch' ? [asked] : asked.slice(0, 20);
      const responses = await Promise.all(
        bodies.map((body) => send(url, { headers: plain, body })),
      );
      if (kind === 'a batch')
        expect(new Set(responses[0]?.events.map(({ id }) => id))).toEqual(
          new Set(asked.map(({ id }) => id)),
        );
      else expect(responses.every(({ json }) => 'result' in json)).toBe(true);

      expect(most).toBeLessThanOrEqual(8);
    },
  );

  it('aborts a call when its client disconnects', async () => {
    for (const family of ['2025', '2026']) {
      const { before, begun, aborted } = held();
      const url = await start({}, { before });
      const controller = new AbortController();
      const isStateless = family === '2026';
      const call = fetch(url, {
        method: 'POST',
        signal: controller.signal,
        headers: isStateless ? stateless('tools/call', { 'mcp-name': 'list_calls' }) : plain,
        body: JSON.stringify(
          rpc('tools/call', {
            name: 'list_calls',
            arguments: {},
            ...(isStateless ? { _meta: meta } : {}),
          }),
        ),
      });
      await begun;
      controller.abort();
      await expect(call).rejects.toThrow();
      await aborted;
      await stop();
    }
  });

  const listCalls = { name: 'list_calls', arguments: {} };
  it.each<[string, Record<string, string>, object]>([
    ['2025-11-25', plain, rpc('tools/call', listCalls)],
    [
      '2026-07-28',
      stateless('tools/call', { 'mcp-name': 'list_calls' }),
      rpc('tools/call', { ...listCalls, _meta: meta }),
    ],
  ])(
    'finishes running calls of %s when it stops, and accepts no new ones',
    async (_what, headers, body) => {
      const running = gate();
      const released = gate();

      const before = async () => {
        running.open();
        await released.opened;
      };

      const url = await start({ drainTimeout: 600_000 }, { before });
      const call = send(url, { headers, body });
      await running.opened;
      const closed = stop();
      await expect(send(url, ping)).rejects.toThrow();
      released.open();
      expect((await call).json).toMatchObject({ result: { structuredContent: { total: 30 } } });
      await closed;
    },
  );

  it('ends streams that wait for news when it stops, without waiting for them', async () => {
    const url = await start({ drainTimeout: 600_000 });
    const stream = await fetch(url, {
      method: 'POST',
      headers: stateless('subscriptions/listen'),
      body: JSON.stringify(rpc('subscriptions/listen', { _meta: meta, notifications: {} })),
    });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    await stop();
    await stream.text();
  });
});

describe('a mounted endpoint', () => {
  const server = () => createServer(fakeClient(websiteCalls(30)));
  const authorization = `Bearer ${token}`;

  it('serves the client of the SDK by Request and Response', async () => {
    const mcp = mountHttp(server(), { auth: { token }, allowedHosts: ['calls.example'] });
    const transport = new StreamableHTTPClientTransport(new URL('https://calls.example/any/path'), {
      fetch: (url, init) => mcp.fetch(new Request(url, init)),
      requestInit: { headers: { authorization } },
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport as never);
    await analyzesAll(client);
    await client.close();
    await mcp.close();
    const late = await mcp.fetch(new Request('https://calls.example/'));
    expect(late.status).toBe(503);
  });

  it('asks the API nothing for a client that has left already', async () => {
    const asked: unknown[] = [];
    const before = (each: unknown) => asked.push(each);
    const mcp = mountHttp(createServer(fakeClient(websiteCalls(30), { before })), { auth: false });
    const body = JSON.stringify(rpc('tools/call', { name: 'count_calls', arguments: {} }));
    const asks = { method: 'POST', headers: plain, body };
    for (const signal of [AbortSignal.abort(), new AbortController().signal])
      await (await mcp.fetch(new Request('http://localhost/mcp', { ...asks, signal }))).text();
    expect(asked).toHaveLength(1);
    await mcp.close();
  });

  it('takes a body that a parser of the application has read', async () => {
    const mcp = mountHttp(server(), { auth: false });
    const before = createHttpServer(
      async (request: IncomingMessage & { body?: unknown }, response) => {
        let text = '';
        for await (const part of request) text += part;
        if (request.url !== '/lost')
          request.body = request.url === '/text' ? text : JSON.parse(text);
        mcp.handler(request, response);
      },
    ).listen(0, '127.0.0.1');
    await once(before, 'listening');
    const url = `http://127.0.0.1:${(before.address() as AddressInfo).port}`;
    expect((await send(`${url}/mcp`, ping)).json).toMatchObject({ id: 1, result: {} });
    expect((await send(`${url}/text`, ping)).json).toMatchObject({ id: 1, result: {} });
    const lost = await send(`${url}/lost`, ping);
    expect([lost.status, lost.text]).toEqual([
      500,
      expect.stringContaining('before it reached the MCP endpoint'),
    ]);
    before.close();
  });

  it('needs auth, and still refuses unknown hosts and wrong tokens', async () => {
    expect(() => mountHttp(server(), {} as never)).toThrow('needs auth');
    expect(() => mountHttp(server(), { auth: { token: 'short' } })).toThrow('too short');
    const mcp = mountHttp(server(), { auth: { token } });

    const request = (host: string, headers: object) =>
      new Request(`https://${host}/mcp`, {
        method: 'POST',
        headers: { ...plain, ...headers },
        body: JSON.stringify(ping.body),
      });

    expect((await mcp.fetch(request('calls.example', { authorization }))).status).toBe(403);
    expect((await mcp.fetch(request('localhost', {}))).status).toBe(401);
    expect((await mcp.fetch(request('localhost', { authorization }))).status).toBe(200);
  });
});
