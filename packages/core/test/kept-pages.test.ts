import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { apiKeys, createClient, type RequestDispatcher } from '@call-attribution/core';
import { faults } from '@call-attribution/core/testing';
import { expect, test } from 'vitest';
import { afterwards, fixtureWireCalls, serve } from './support.ts';

/** Large pages, a different one each time: their bodies, and what is sent of them. */
const bodies = Array.from({ length: 8 }, (_, i) =>
  Buffer.from(JSON.stringify(fixtureWireCalls(60 + i, 'v3', i))),
);
const headersOf = (body: Buffer, records: number) => ({
  'content-type': 'application/json',
  'content-length': String(body.length),
  'content-range': `1-${records}/${records}`,
});

test.each([false, true])(
  'the bytes of a page stay as they are while later pages come (compressed: %s)',
  async (isPacked) => {
    let served = 0;
    const server = createServer((_, response) => {
      const body = bodies[served] ?? Buffer.alloc(0);
      const packed = isPacked ? gzipSync(body) : body;
      response.writeHead(200, {
        ...headersOf(packed, 60 + served),
        ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
      });
      response.end(packed);
      served += 1;
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = createClient({ baseUrl, auth: apiKeys('key', 'secret') });
    afterwards(() => client.close().then(() => server.close()));
    const pages = [];
    for (const _ of bodies) pages.push(await client.fetchPage({ rows: 1000 }));
    for (const [i, page] of pages.entries()) {
      expect(Buffer.compare(page.bytes, bodies[i] ?? Buffer.alloc(0))).toBe(0);
      expect(page.items().map((item) => item.read().sid)).toEqual(
        fixtureWireCalls(60 + i, 'v3', i).map(({ sid }) => sid),
      );
    }
  },
);

test('the bytes of a page are its own, also with a dispatcher that uses its memory again', async () => {
  const memory = Buffer.alloc(1_000_000);
  let sent = 0;
  const dispatcher: RequestDispatcher = {
    dispatch(_, handler) {
      const body = bodies[sent] ?? Buffer.alloc(0);
      const controller = { abort() {} };
      body.copy(memory);
      handler.onRequestStart(controller);
      handler.onResponseStart(controller, 200, headersOf(body, 60 + sent));
      handler.onResponseData(controller, memory.subarray(0, body.length));
      handler.onResponseEnd(controller);
      sent += 1;
    },
  };
  const client = createClient({
    baseUrl: 'http://127.0.0.1:9',
    auth: apiKeys('key', 'secret'),
    dispatcher,
  });
  const first = await client.fetchPage({ rows: 1000 });
  const second = await client.fetchPage({ rows: 1000 });
  expect([first.bytes, second.bytes].map((bytes) => Buffer.from(bytes).toString())).toEqual(
    bodies.slice(0, 2).map(String),
  );
});

test('a record that is no JSON fails alone, and who reads a record again gets another one', async () => {
  const { server, client } = await serve();
  server.next(faults.replace(200, '[{"sid":"a"},{"sid":nul},{"sid":"c"}]'));
  const page = await client.fetchPage({ rows: 3 });
  expect(page.count).toBe(3);
  const [a, b, c] = page.items();
  expect([a?.read().sid, c?.read().sid]).toEqual(['a', 'c']);
  expect(() => b?.read()).toThrow(expect.objectContaining({ code: 'invalid_json' }));
  const [first] = (await client.fetchPage({ rows: 20 })).items();
  expect(first?.read()).toEqual(first?.read());
  expect(first?.read()).not.toBe(first?.read());
});
