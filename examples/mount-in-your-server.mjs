// One server of your own with the API over a store below /calls, an MCP endpoint at /mcp, and a
// path of its own.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { bearerToken, createClient } from '@call-attribution/core';
import { createServer, mountHttp } from '@call-attribution/mcp-server';
import { generate } from '@call-attribution/sandbox';
import { createService } from '@call-attribution/service';
import { openStore } from '@call-attribution/store';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const token = 'a-long-random-token';
const store = await openStore('sqlite::memory:');
await store.putAccount({ id: '101', name: 'Main' });
await store.putCredential('101', { kind: 'bearer', token });
await store.upsert('101', generate({ records: 500 }));
const service = createService({ store, prefix: '/calls' });

// In Express: app.use('/calls', service.handler); app.all('/mcp', mcp.handler); in Hono:
// app.all('/calls/*', (c) => service.fetch(c.req.raw, c.env)); app.all('/mcp', (c) =>
// mcp.fetch(c.req.raw));
const server = createHttpServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/mcp') mcp.handler(request, response);
  else if (pathname.startsWith('/calls/')) service.handler(request, response);
  else response.end('Hello from the application');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;

const calls = createClient({ baseUrl: `${url}/calls`, auth: bearerToken(token) });
const mcp = mountHttp(createServer(calls), { auth: { token } });
const assistant = new Client({ name: 'example', version: '1.0.0' });

try {
  const { total } = await calls.countCalls({ filter: 'inc_gce:1' });
  assert.equal(total, 500);
  assert.equal(await (await fetch(`${url}/about`)).text(), 'Hello from the application');

  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers },
  });
  await assistant.connect(/** @type {never} */ (transport));
  const counted = await assistant.callTool({
    name: 'count_calls',
    arguments: { calls: 'all' },
  });
  assert.match(JSON.stringify(counted.structuredContent), /500/);
  assert.equal((await fetch(`${url}/mcp`, { method: 'POST' })).status, 401);
  console.log(`${total} calls by the API and by MCP, on one port`);
} finally {
  await assistant.close();
  await calls.close();
  await mcp.close();
  await service.close();
  await store.close();
  server.close();
  server.closeAllConnections();
}
