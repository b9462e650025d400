// Bytes that are nearly HTTP, in all combinations.
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect } from 'vitest';
import { countStatuses, type Target } from './attacks.ts';

const list = '/v3/user/bid-management';

/** Sends `runs` random sequences of bytes. Fails on a response with a status from 500, and on a connection that stays open. */
export async function sendGarbage(target: Target, runs: number): Promise<void> {
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...pieces, target.keys) },
    fc.string({ maxLength: 20 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('a'.repeat(9_000), 'b'.repeat(40_000), '\0', '\r\n\r\n', '0\r\n\r\n'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 12 }), async (parts) => {
      const socket = connect(target.port, '127.0.0.1');
      socket.on('error', () => undefined);
      const statuses: Record<string, number> = {};
      countStatuses(socket, statuses);
      const ended = new Promise((done) => socket.once('close', done));
      socket.end(parts.join(''));
      await ended;
      expect(Object.keys(statuses).filter((status) => status >= '500')).toEqual([]);
    }),
    { numRuns: runs },
  );
}

const pieces = [
  'GET / HTTP/1.1\r\n',
  `GET ${list} HTTP/1.1\r\n`,
  `GET ${list}?rows=2 HTTP/1.1\r\nHost: x\r\n`,
  'POST /ibp_api.php HTTP/1.1\r\n',
  'OPTIONS * HTTP/1.1\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  `GET http://x${list} HTTP/1.0\r\n`,
  `QUERY ${list}/count HTTP/1.1\r\n`,
  'HEAD /v2/user/bid-management/count HTTP/1.1\r\n',
  'Host: x\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Content-Type: application/x-www-form-urlencoded\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'Expect: 100-continue\r\n',
  'Connection: close\r\n',
  '\r\n',
  '5\r\nabcde\r\n0\r\n\r\n',
  'ffffffffffffffff\r\n',
  'zz\r\n',
  'a=b&c=%zz',
];
