import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { apiKeys, createClient } from '@call-attribution/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseInPieces } from '../src/page/parse-in-pieces.ts';
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

const nasty = fc.constantFrom('},{"sid":', '"},{"sid":"', '\\', 'é', '漢', '');
const inner = fc.array(fc.record({ sid: nasty }), { maxLength: 2 });
const flat = fc.record({
  sid: nasty,
  a: fc.oneof(nasty, fc.constant(null)),
  pad: fc.constant('x'.repeat(3000)),
});
const nested = fc.record({ sid: nasty, a: fc.oneof(nasty, inner), pad: fc.constant('x'.repeat(3000)) });
const many = (one: fc.Arbitrary<unknown>) => fc.array(one, { minLength: 44, maxLength: 80 });
const lists = fc.oneof(many(flat), many(nested));

test('a page parsed in pieces equals the page parsed at once', () => {
  let inPieces = 0;
  fc.assert(
    fc.property(lists, fc.integer({ min: -1, max: 1 }), (records, off) => {
      const body = Buffer.from(JSON.stringify(records));
      const parsed = parseInPieces(body, records.length + off);
      if (parsed === undefined) return;
      inPieces += 1;
      expect(off).toBe(0);
      expect(parsed).toEqual(JSON.parse(body.toString()));
    }),
    { numRuns: 60, seed: 7 },
  );
  const plain = Array.from({ length: 100 }, (_, i) => ({ sid: `é${i}`, pad: 'x'.repeat(2000) }));
  expect(parseInPieces(Buffer.from(JSON.stringify(plain)), 100)).toEqual(plain);
  const broken = Buffer.from(JSON.stringify(plain));
  expect(parseInPieces(broken.fill('!', 0x100, 0x101), 100)).toHaveLength(100);
  expect(parseInPieces(broken.fill('\n', 0x100, 0x101), 100)).toBeUndefined();
  expect(inPieces).toBeGreaterThan(5);
});
