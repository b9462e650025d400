import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { apiKeys, createClient, type RawPage } from '@call-attribution/core';
import { fixtureWireCalls } from '@call-attribution/core/testing';
import { afterEach, describe, expect, test } from 'vitest';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server of large pages, a different one each time, and a client for it. */
async function largePages(isPacked: boolean) {
  let served = 0;
  const server = createServer((_, response) => {
    served += 1;
    const body = Buffer.from(JSON.stringify(fixtureWireCalls(60 + served, 'v3', served)));
    const packed = isPacked ? gzipSync(body) : body;
    response.setHeader('content-type', 'application/json');
    response.setHeader('content-length', packed.length);
    if (isPacked) response.setHeader('content-encoding', 'gzip');
    response.setHeader('content-range', `1-${60 + served}/${60 + served}`);
    response.end(packed);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ baseUrl, auth: apiKeys('key', 'secret') });
  closers.push(
    () => server.close(),
    () => client.close(),
  );
  return () => client.fetchPage({ rows: 1000 });
}

const sids = (page: RawPage) => page.records().map(({ sid }) => sid);
const expected = (number: number) => fixtureWireCalls(60 + number, 'v3', number).map(({ sid }) => sid);

describe('a released page', () => {
  test('a released page gives its memory to a later page', async () => {
    const next = await largePages(false);
    const first = await next();
    first.release?.();
    const second = await next();
    expect(second.bytes.buffer).toBe(first.bytes.buffer);
    expect(sids(second)).toEqual(expected(2));
  });

  test('a released page cannot be read any more', async () => {
    const next = await largePages(false);
    const page = await next();
    page.release?.();
    expect(() => page.record(0)).toThrow(/has been released/);
    expect(() => page.records()).toThrow(/has been released/);
  });

  test.each([false, true])(
    'pages that are still in use are never touched (compressed: %s)',
    async (isPacked) => {
      const next = await largePages(isPacked);
      const held: { page: RawPage; number: number }[] = [];
      for (let number = 1; number <= 12; number += 1) {
        const page = await next();
        if (number % 3 === 0) held.push({ page, number });
        else {
          page.release?.();
          page.release?.();
        }
      }
      const concurrent = await Promise.all([next(), next(), next(), next()]);
      expect(new Set(concurrent.map(({ bytes }) => bytes.buffer)).size).toBe(4);
      for (const { page, number } of held) expect(sids(page)).toEqual(expected(number));
    },
  );
});
