import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { apiKeys, createClient } from '@call-attribution/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeText } from '../src/page/read-json.ts';
import { afterwards } from './support.ts';

test('a body that was encoded twice is decoded twice', async () => {
  const body = gzipSync(gzipSync('[]'));
  const server = createServer((_, response) => {
    response.writeHead(200, [
      ['content-type', 'application/json'],
      ['content-encoding', 'gzip'],
      ['content-encoding', 'gzip'],
    ] as never);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(() => server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ baseUrl, auth: apiKeys('key-one', 'key-two') });
  afterwards(() => client.close());
  expect((await client.listCalls()).records).toEqual([]);
});

test('decoding returns the text at any size, or refuses bytes that are not UTF-8', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.integer({ min: 0, max: 400 }),
      (piece, times) => {
        const text = piece
          .replace(/\p{Surrogate}/gu, '')
          .replace(/^\ufeff/, '')
          .repeat(times)
          .replace(/^\ufeff+/, '');
        expect(decodeText(Buffer.from(text))).toBe(text);
      },
    ),
  );
  for (const size of [1, 10_000]) {
    const bytes = Buffer.concat([Buffer.from('é'.repeat(size)), Buffer.from([0xc3])]);
    expect(() => decodeText(bytes)).toThrow('not valid UTF-8');
  }
});
