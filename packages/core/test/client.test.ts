import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiKeys, bearerToken, type Call, createClient } from '@call-attribution/core';
import { afterEach, describe, expect, test } from 'vitest';
import { fixtureWireCalls } from './support.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the client against a plain server', () => {
  test('it lists a page with keys, filter and range', async () => {
    const seen: { url: string; headers: object }[] = [];
    const records = fixtureWireCalls(2, 'v3');
    const baseUrl = await serve((request, response) => {
      seen.push({ url: request.url as string, headers: request.headers });
      response.setHeader('content-type', 'application/json');
      response.setHeader('content-range', '3-4/18');
      response.end(JSON.stringify(records));
    });
    const client = createClient({ baseUrl, auth: apiKeys(' key ', 'sec\n') });
    closers.push(() => client.close());
    const page = await client.listCalls({
      filter: 'date_added:[2024-01-01 00:00:00 TO *]',
      rows: 2,
      page: 1,
    });
    expect(page.range).toEqual({ first: 3, last: 4, total: 18 });
    expect(page.records).toEqual(records);
    expect(page.meta).toMatchObject({ status: 200, attempts: 1, rows: 2, page: 1 });
    expect(seen[0]?.url).toBe(
      '/v3/user/bid-management?q=date_added%3A%5B2024-01-01%2000%3A00%3A00%20TO%20*%5D&rows=2&start=1',
    );
    expect(seen[0]?.headers).toMatchObject({
      access_key: 'key',
      secret_key: 'sec',
      'content-type': 'application/json',
    });
  });

  test('it reads all pages in v2 and gives the fields their neutral names', async () => {
    const all = fixtureWireCalls(7, 'v2');
    const baseUrl = await serve((request, response) => {
      const { searchParams } = new URL(request.url as string, 'http://x');
      const [rows, start] = [Number(searchParams.get('rows')), Number(searchParams.get('start') ?? 0)];
      const part = all.slice(rows * start, rows * start + rows);
      response.setHeader('content-type', 'application/json');
      response.setHeader('content-range', `${rows * start + 1}-${rows * start + part.length}/${all.length}`);
      response.end(JSON.stringify(part));
    });
    const client = createClient({ baseUrl, version: 'v2', auth: bearerToken('Bearer t0ken') });
    closers.push(() => client.close());
    const calls: Call[] = [];
    for await (const call of client.listCalls({ rows: 3 })) calls.push(call);
    expect(calls.map((call) => call.sid)).toEqual(all.map((call) => call.sid));
    expect(calls[0]).toHaveProperty('first_touch');
  });
});
