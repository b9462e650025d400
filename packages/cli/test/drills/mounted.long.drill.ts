// The API and an MCP endpoint inside real Express, Fastify, Hono and a plain server of Node.js,
// next to routes and body parsers of the application.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createNodeServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, createClient } from '@call-attribution/core';
import { createServer, type HttpMount, mountHttp } from '@call-attribution/mcp-server';
import { generate } from '@call-attribution/sandbox';
import { createService, type LogEntry, type Service } from '@call-attribution/service';
import { openStore } from '@call-attribution/store';
import { openDrill } from '@call-attribution/test-tools/drill';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

openDrill({
  name: 'mounted',
  kind: 'cut connections',
  what: 'The API and an MCP endpoint inside Express 4 and 5, Fastify, Hono and a plain server of Node.js, at the root and below a prefix, with body parsers in front; clients that leave and clients that do not read',
  countTests: true,
});

const records = 4_000;
const token = 'a-token-of-the-endpoint';
const account = {
  id: '101',
  name: 'One',
  accessKey: 'test_access_101',
  secretKey: 'test_secret_101',
  bearerToken: 'test_bearer_101',
};
const keys = { access_key: account.accessKey, secret_key: account.secretKey };
const folder = mkdtempSync(join(tmpdir(), 'mounted-'));
writeFileSync(join(folder, 'index.html'), 'a page for people');
const load = createRequire(join(folder, 'package.json'));
beforeAll(() => {
  const names = [
    'express@5',
    'express4@npm:express@4',
    'fastify@5',
    'hono@4',
    '@hono/node-server@2',
  ];
  execFileSync('npm', [
    'install',
    '--no-audit',
    '--no-fund',
    '--silent',
    '--prefix',
    folder,
    ...names,
  ]);
}, 300_000);
const store = await openStore('sqlite::memory:');
await store.putAccount({ id: '101', name: 'One' });
await store.putSmsNumbers('101', [{ number: '16175550100', smsEnabled: '1', url: '' }]);
await store.upsert('101', generate({ records }));
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a host gets, and the server that it returns. `prefix` is where it mounts the service. */
type Host = (service: Service, mcp: HttpMount, prefix: string) => Promise<Server>;

const own = 'a route of the application';
/** Without a prefix that the application cuts off. */
const cut = new Set(['Express 5', 'Express 4', 'Hono, mounted']);

const express =
  (name: string): Host =>
  async (service, mcp, prefix) => {
    const module = load(name);
    const app = module();

    // The service reads the body of a form itself, so it comes before the parsers.
    if (prefix !== '') app.use(prefix, service.handler);
    else app.post('/ibp_api.php', service.handler);
    app.use(module.json(), module.urlencoded({ extended: true }));
    app.get('/before', (_: unknown, response: { send(text: string): void }) => response.send(own));
    app.all('/mcp', mcp.handler);
    app.get('/after', (_: unknown, response: { send(text: string): void }) => response.send(own));
    if (prefix === '') app.use(service.handler);
    return app.listen(0, '127.0.0.1');
  };

const fastify: Host = async (service, mcp, prefix) => {
  const app = load('fastify')();

  // Forms are left to the service, which reads them itself.
  const form = 'application/x-www-form-urlencoded';
  app.addContentTypeParser(form, (_: unknown, __: unknown, done: (error: null) => void) =>
    done(null),
  );
  app.get('/before', async () => own);

  const pass =
    (handler: (request: never, response: never) => void) => (request: Passed, reply: Passed) => {
      reply.hijack?.();
      handler(Object.assign(request.raw, { body: request.body }) as never, reply.raw as never);
    };

  app.all('/mcp', pass(mcp.handler));
  app.all(`${prefix}/*`, pass(service.handler));
  app.get('/after', async () => own);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
};

interface Passed {
  readonly raw: object;
  readonly body?: unknown;
  hijack?(): void;
}

interface HonoContext {
  readonly req: { readonly raw: Request };
  readonly env: object;
  text(text: string): Response;
}

const hono =
  (isMounted: boolean): Host =>
  async (service, mcp, prefix) => {
    const { Hono } = load('hono');
    const app = new Hono();
    app.get('/before', (c: HonoContext) => c.text(own));
    app.get('/after', (c: HonoContext) => c.text(own));
    app.all('/mcp', (c: HonoContext) => mcp.fetch(c.req.raw));
    if (isMounted && prefix !== '') app.mount(prefix, service.fetch);
    else app.all(`${prefix}/*`, (c: HonoContext) => service.fetch(c.req.raw, c.env));
    return load('@hono/node-server').serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  };

const plain: Host = async (service, mcp) =>
  createNodeServer((request, response) => {
    if (request.url === '/before' || request.url === '/after') response.end(own);
    else if (request.url === '/mcp') mcp.handler(request, response);
    else service.handler(request, response);
  }).listen(0, '127.0.0.1');

const hosts: readonly (readonly [string, Host])[] = [
  ['Express 5', express('express')],
  ['Express 4', express('express4')],
  ['Fastify', fastify],
  ['Hono', hono(false)],
  ['Hono, mounted', hono(true)],
  ['Node.js', plain],
];

const cases = hosts.flatMap(([name, host]) =>
  ['', '/calls'].map((prefix) => ({ name, host, prefix })),
);

describe.each(cases)('$name, service at "$prefix/"', ({ name, host, prefix }) => {
  const log: LogEntry[] = [];
  let url = '';
  const clean: (() => unknown)[] = [];
  const ended = (message: string) =>
    expect.poll(() => log.filter((entry) => entry.message === message).length, { timeout: 10_000 });

  beforeAll(async () => {
    const service = createService({
      store,
      accounts: [account],
      maxRows: records,
      page: { assets: folder },
      prefix: cut.has(name) ? '' : prefix,
      log: (entry) => log.push(entry),
      sendTimeout: 2_000,
    });
    const calls = createClient({ baseUrl: 'http://127.0.0.1:1', auth: apiKeys('a', 'b') });
    const mcp = mountHttp(
      createServer(() =>
        createClient({
          baseUrl: url + prefix,
          auth: apiKeys(account.accessKey, account.secretKey),
        }),
      ),
      { auth: { token } },
    );
    const server = await host(service, mcp, prefix);
    if (!server.listening) await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    clean.push(
      () => calls.close(),
      () => mcp.close(),
      () => service.close(),
      () => server.closeAllConnections(),
      () => server.close(),
    );
  });
  afterAll(async () => {
    for (const step of clean) await step();
  });

  test('routes of the application stay, and every call is listed', async () => {
    for (const path of ['/before', '/after'])
      expect(await (await fetch(url + path)).text()).toBe(own);
    const client = createClient({
      baseUrl: url + prefix,
      legacyBaseUrl: url + prefix,
      auth: apiKeys(account.accessKey, account.secretKey),
    });
    const sids = new Set<string>();
    for await (const call of client.listCalls({ filter: 'inc_gce:1', rows: 1_000 }))
      sids.add(call.sid);
    expect(sids.size).toBe(records);
    expect(await client.listSmsNumbers({ method: 'POST' })).toHaveLength(1);
    await client.close();
    expect((await fetch(`${url}${prefix}/healthz`)).status).toBe(200);
    expect(await (await fetch(`${url}${prefix}/`)).text()).toBe('a page for people');
  });

  test('an assistant lists and calls tools, and sees progress', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers },
    });
    const client = new Client({ name: 'drill', version: '1' });
    await client.connect(transport as never);
    const counted = await client.callTool({
      name: 'count_calls',
      arguments: { calls: 'all' },
    });
    expect(JSON.stringify(counted.structuredContent)).toContain(String(records));
    expect((await client.listTools()).tools.length).toBeGreaterThan(4);
    await client.close();
    expect((await fetch(`${url}/mcp`, { method: 'POST', body: '{}' })).status).toBe(401);
  });

  const page = () => `${url}${prefix}/v3/user/bid-management?q=inc_gce:1&rows=${records}`;

  test('a client that leaves in the middle of a page is noticed', async () => {
    const before = log.length;
    const leaving = new AbortController();
    const response = await fetch(page(), {
      headers: { ...keys, 'accept-encoding': 'identity' },
      signal: leaving.signal,
    });
    await (response.body as ReadableStream).getReader().read();
    leaving.abort();
    await ended('abandoned').toBe(1);
    expect(log.length).toBe(before + 1);
  });

  test('a page waits for a client that reads slowly, and is ended for one that does not read', async () => {
    const before = log.length;
    const slow = await fetch(page(), { headers: { ...keys, 'accept-encoding': 'identity' } });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(log.length).toBe(before);
    expect(await slow.json()).toHaveLength(records);
    await ended('completed').toBeGreaterThan(0);

    // A raw connection, whose buffers are small, that never reads.
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname).on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    const lines = Object.entries(keys).map(([header, value]) => `${header}: ${value}\r\n`);
    socket.write(
      `GET ${page().slice(url.length)} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}\r\n`,
    );
    await ended('abandoned').toBe(2);
    socket.destroy();
  });
});
