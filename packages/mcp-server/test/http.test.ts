import { request as httpRequest } from 'node:http';
import { apiKeys, createClient } from '@call-attribution/core';
import { makeCalls, startHostileServer } from '@call-attribution/core/testing';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createServer, type HttpEndpoint, type HttpOptions, serveHttp } from '../src/index.ts';
import { type FakeOptions, fakeClient } from './support/fake-client.ts';

// For machines that do much else at the same time.
vi.setConfig({ testTimeout: 60_000 });

const revision = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const token = 'a-token-of-the-endpoint';
let endpoint: HttpEndpoint | undefined;

const start = async (options: HttpOptions = {}, fake: FakeOptions = {}): Promise<string> => {
  endpoint = await serveHttp(createServer(fakeClient(makeCalls(30), fake)), {
    port: 0,
    graceMs: 200,
    ...options,
  });
  return endpoint.url;
};

afterEach(async () => {
  await endpoint?.close();
  endpoint = undefined;
});

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  readonly json: Record<string, never>;
}

/** A request with any header, Host and Origin included. */
function send(url: string, { method = 'POST', headers = {}, body = '' as unknown }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const isJson = response.headers['content-type']?.startsWith('application/json');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    request.on('error', reject);
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

const plain = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const modern = (method: string, extra: Record<string, string> = {}) => ({
  ...plain,
  'mcp-protocol-version': revision,
  'mcp-method': method,
  ...extra,
});
const rpc = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const ping = { headers: plain, body: rpc('ping') };

describe('over HTTP', () => {
  it.each([false, true])('the SDK’s client connects, lists and calls (sessions: %s)', async (sessions) => {
    const url = await start({ sessions });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
    expect((await client.listTools()).tools).toHaveLength(6);
    const progress: unknown[] = [];
    const result = await client.callTool({ name: 'summarize_calls', arguments: {} }, undefined, {
      onprogress: (each) => progress.push(each.progress),
    });
    expect(result.structuredContent).toMatchObject({ calls: 30, complete: true });
    expect(progress).toEqual([30]);
    await client.close();
  });

  it('a client of 2026-07-28 needs no session, and gets JSON', async () => {
    const url = await start();
    const answer = await send(url, {
      headers: modern('tools/call', { 'mcp-name': 'count_calls' }),
      body: rpc('tools/call', { _meta: meta, name: 'count_calls' }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['mcp-session-id']).toBeUndefined();
    expect(answer.json).toMatchObject({
      id: 1,
      result: { resultType: 'complete', structuredContent: { total: 30 } },
    });
  });

  it('streams progress of a 2026-07-28 call before its result', async () => {
    const url = await start();
    const answer = await send(url, {
      headers: modern('tools/call', { 'mcp-name': 'summarize_calls' }),
      body: rpc('tools/call', { _meta: { ...meta, progressToken: 'p' }, name: 'summarize_calls' }),
    });
    expect(answer.headers['content-type']).toBe('text/event-stream');
    const events = answer.text.split('\n').filter((line) => line.startsWith('data: '));
    expect(events.map((line) => JSON.parse(line.slice(6)))).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'p', progress: 30 } },
      { id: 1, result: { resultType: 'complete' } },
    ]);
  });

  it.each<[string, Record<string, string>, object, number, number]>([
    ['without _meta', modern('tools/list'), rpc('tools/list'), 400, -32602],
    [
      'without the version header',
      { ...plain, 'mcp-method': 'tools/list' },
      rpc('tools/list', { _meta: meta }),
      400,
      -32020,
    ],
    [
      'with another version header',
      { ...modern('tools/list'), 'mcp-protocol-version': '2027-01-01' },
      rpc('tools/list', { _meta: meta }),
      400,
      -32020,
    ],
    [
      'without Mcp-Method',
      { ...plain, 'mcp-protocol-version': revision },
      rpc('tools/list', { _meta: meta }),
      400,
      -32020,
    ],
    ['with another Mcp-Method', modern('tools/call'), rpc('tools/list', { _meta: meta }), 400, -32020],
    [
      'without Mcp-Name',
      modern('tools/call'),
      rpc('tools/call', { _meta: meta, name: 'count_calls' }),
      400,
      -32020,
    ],
    [
      'with another Mcp-Name',
      modern('tools/call', { 'mcp-name': 'get_call' }),
      rpc('tools/call', { _meta: meta, name: 'count_calls' }),
      400,
      -32020,
    ],
    ['for an unknown method', modern('x/y'), rpc('x/y', { _meta: meta }), 404, -32601],
    ['for a method of the handshake', modern('ping'), rpc('ping', { _meta: meta }), 404, -32601],
    [
      'for an unknown resource',
      modern('resources/read', { 'mcp-name': 'calls://x' }),
      rpc('resources/read', { _meta: meta, uri: 'calls://x' }),
      200,
      -32602,
    ],
  ])('a 2026-07-28 request %s is refused', async (_what, headers, body, status, code) => {
    const answer = await send(await start(), { headers, body });
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ id: 1, error: { code } });
  });

  it('takes an encoded Mcp-Name', async () => {
    const name = `=?base64?${Buffer.from('calls://fields').toString('base64')}?=`;
    const answer = await send(await start(), {
      headers: modern('resources/read', { 'mcp-name': name }),
      body: rpc('resources/read', { _meta: meta, uri: 'calls://fields' }),
    });
    expect(answer.status).toBe(200);
  });

  it('answers a batch of 2025-03-26, and notifications alone with 202', async () => {
    const url = await start();
    const batch = [
      rpc('ping', {}, 'a'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      rpc('tools/list', {}, 'b'),
    ];
    const answer = await send(url, { headers: plain, body: batch });
    expect((answer.json as unknown as { id: string }[]).map(({ id }) => id)).toEqual(['a', 'b']);
    expect((await send(url, { headers: plain, body: batch[1] })).status).toBe(202);
    expect((await send(url, { headers: plain, body: [] })).status).toBe(400);
    expect((await send(url, { headers: plain, body: Array(51).fill(batch[0]) })).status).toBe(400);
  });

  it('aborts a call whose client hangs up', async () => {
    for (const family of ['2025', '2026']) {
      let running: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => {
        running = resolve;
      });
      let aborted: () => void = () => undefined;
      const stopped = new Promise<void>((resolve) => {
        aborted = resolve;
      });
      const url = await start(
        {},
        {
          before: ({ signal }) =>
            new Promise((_, reject) => {
              running();
              signal?.addEventListener('abort', () => {
                aborted();
                reject(signal.reason);
              });
            }),
        },
      );
      const controller = new AbortController();
      const isModern = family === '2026';
      const call = fetch(url, {
        method: 'POST',
        signal: controller.signal,
        headers: isModern ? modern('tools/call', { 'mcp-name': 'list_calls' }) : plain,
        body: JSON.stringify(
          rpc('tools/call', { name: 'list_calls', arguments: {}, ...(isModern ? { _meta: meta } : {}) }),
        ),
      });
      await begun;
      controller.abort();
      await expect(call).rejects.toThrow();
      await stopped;
      await endpoint?.close();
    }
  });
});

describe('the door', () => {
  it.each<[string, Record<string, string>, number]>([
    ['a foreign Host', { host: 'evil.example' }, 403],
    ['a Host that begins like ours', { host: 'localhost.evil.example' }, 403],
    ['a Host with a user part', { host: 'localhost@evil.example' }, 403],
    ['a foreign Origin', { origin: 'https://evil.example' }, 403],
    ['Origin null', { origin: 'null' }, 403],
    ['an Origin that begins like ours', { origin: 'http://localhost.evil.example' }, 403],
    ['a page on this machine', { origin: 'http://localhost:5173' }, 200],
    ['an allowed Host', { host: 'calls.example:3000' }, 200],
    ['an allowed Origin', { origin: 'https://app.example' }, 200],
  ])('with %s answers %i', async (_what, headers, status) => {
    const url = await start({ allowedHosts: ['calls.example'], allowedOrigins: ['https://app.example'] });
    expect((await send(url, { ...ping, headers: { ...plain, ...headers } })).status).toBe(status);
  });

  it.each<[string, Record<string, string>, number]>([
    ['no token', {}, 401],
    ['a wrong token', { authorization: 'Bearer wrong' }, 401],
    ['a part of the token', { authorization: `Bearer ${token.slice(0, -1)}` }, 401],
    ['another scheme', { authorization: `Basic ${token}` }, 401],
    ['the token', { authorization: `Bearer ${token}` }, 200],
  ])('with %s answers %i', async (_what, headers, status) => {
    const url = await start({ auth: { token } });
    const answer = await send(url, { ...ping, headers: { ...plain, ...headers } });
    expect(answer.status).toBe(status);
    if (status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
    expect(answer.text).not.toContain(token);
  });

  it('keeps its token to itself: the API sees only its own keys', async () => {
    const api = await startHostileServer({ calls: makeCalls(3) });
    const client = createClient({ baseUrl: api.url, auth: apiKeys('an-access-key', 'a-secret-key') });
    endpoint = await serveHttp(createServer(client), { port: 0, auth: { token } });
    const answer = await send(endpoint.url, {
      headers: { ...plain, authorization: `Bearer ${token}` },
      body: rpc('tools/call', { name: 'count_calls', arguments: {} }),
    });
    expect(answer.json).toMatchObject({ result: { structuredContent: { total: 3 } } });
    const [seen] = api.requests;
    expect(seen?.headers).toMatchObject({ access_key: 'an-access-key', secret_key: 'a-secret-key' });
    expect(JSON.stringify(seen)).not.toContain(token);
    await client.close();
    await api.close();
  });

  it('asks a verifier about a token and shows where to get one', async () => {
    const metadata = {
      resource: 'https://calls.example/mcp',
      authorizationServers: ['https://login.example'],
      scopes: ['calls:read'],
    };
    const url = await start({ auth: { verify: async (given) => given === 'from-login', metadata } });
    const refused = await send(url, ping);
    expect(refused.status).toBe(401);
    expect(refused.headers['www-authenticate']).toContain(
      'resource_metadata="https://calls.example/.well-known/oauth-protected-resource/mcp"',
    );
    expect(
      (await send(url, { ...ping, headers: { ...plain, authorization: 'Bearer from-login' } })).status,
    ).toBe(200);
    const found = await send(url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp'), {
      method: 'GET',
    });
    expect(found.json).toEqual({
      resource: 'https://calls.example/mcp',
      authorization_servers: ['https://login.example'],
      bearer_methods_supported: ['header'],
      scopes_supported: ['calls:read'],
    });
  });

  it('never opens to other machines without a token', async () => {
    await expect(start({ host: '0.0.0.0' })).rejects.toThrow('without a token');
    await expect(start({ auth: { token: 'short' } })).rejects.toThrow('too short');
    await expect(start({ auth: { token: 'p@ssword!with$pecials' } })).rejects.toThrow(
      /an Authorization header cannot carry/,
    );
  });

  it.each<[string, { method?: string; headers?: Record<string, string>; body?: unknown }, number]>([
    ['GET', { method: 'GET', headers: plain }, 405],
    ['DELETE', { method: 'DELETE', headers: plain }, 405],
    ['another content type', { headers: { ...plain, 'content-type': 'text/plain' }, body: rpc('ping') }, 415],
    ['no accept', { headers: { 'content-type': 'application/json' }, body: rpc('ping') }, 406],
    ['broken JSON', { headers: plain, body: '{' }, 400],
    ['a body over the limit', { headers: plain, body: 'x'.repeat(3000) }, 413],
    [
      'a chunked body over the limit',
      { headers: { ...plain, 'transfer-encoding': 'chunked' }, body: 'x'.repeat(3000) },
      413,
    ],
    [
      'an unknown old version',
      { headers: { ...plain, 'mcp-protocol-version': '1999-01-01' }, body: rpc('ping') },
      400,
    ],
    ['something that is no message', { headers: plain, body: { a: 1 } }, 400],
  ])('answers %s with %i', async (_what, request, status) => {
    expect((await send(await start({ maxBodyBytes: 2000 }), request)).status).toBe(status);
  });

  it('tells its health, and nothing else on other paths', async () => {
    const url = await start({ auth: { token } });
    expect((await send(url.replace('/mcp', '/health'), { method: 'GET' })).json).toEqual({
      status: 'ok',
      version: '0.1.0',
    });
    expect((await send(url.replace('/mcp', '/other'), { method: 'GET' })).status).toBe(404);
  });
});

describe('sessions', () => {
  const initialize = rpc('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  const begin = async (url: string) =>
    String((await send(url, { headers: plain, body: initialize })).headers['mcp-session-id']);
  const use = (url: string, id: string) =>
    send(url, { headers: { ...plain, 'mcp-session-id': id }, body: rpc('tools/list') });

  it('are begun, used and ended; an unknown one is 404 and a missing one 400', async () => {
    const url = await start({ sessions: true });
    const id = await begin(url);
    expect((await use(url, id)).status).toBe(200);
    expect((await use(url, 'unknown')).status).toBe(404);
    expect((await send(url, { headers: plain, body: rpc('tools/list') })).status).toBe(400);
    expect((await send(url, { method: 'DELETE', headers: { ...plain, 'mcp-session-id': id } })).status).toBe(
      200,
    );
    expect((await use(url, id)).status).toBe(404);
  });

  it('end when they are idle or when there are too many', async () => {
    let now = 0;
    const url = await start({ sessions: { max: 2, idleMs: 1000, now: () => now } });
    const first = await begin(url);
    now = 500;
    const second = await begin(url);
    const third = await begin(url);
    expect([
      (await use(url, first)).status,
      (await use(url, second)).status,
      (await use(url, third)).status,
    ]).toEqual([404, 200, 200]);
    now = 5000;
    await begin(url);
    expect((await use(url, second)).status).toBe(404);
  });
});

describe('a stop', () => {
  it('lets calls under way finish and takes no new ones', async () => {
    let running: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      running = resolve;
    });
    const url = await start(
      { graceMs: 5000 },
      {
        before: async () => {
          running();
          await new Promise((resolve) => setTimeout(resolve, 50));
        },
      },
    );
    const call = send(url, {
      headers: plain,
      body: rpc('tools/call', { name: 'list_calls', arguments: {} }),
    });
    await begun;
    const closed = endpoint?.close();
    expect((await call).json).toMatchObject({ result: { structuredContent: { total: 30 } } });
    await closed;
    await expect(send(url, ping)).rejects.toThrow();
  });
});
