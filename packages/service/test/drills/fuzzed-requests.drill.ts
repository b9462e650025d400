// Random requests, most of them wrong, with the keys of an account: none is a fault of the service.
import { once } from 'node:events';
import { connect } from 'node:net';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createService, type LogEntry } from '../../src/index.ts';
import { accountOf, feedsOf, keyLinesOf, openFeed } from '../stage.ts';

const count = rounds(3_000, 10_000);
const tally = openDrill({
  name: 'fuzzed-requests',
  kind: 'hostile clients',
  what: 'Random requests to each path: methods, parameters, filters, headers and bodies that are nearly right, and bytes that are nearly HTTP; nothing answers 5xx, and the account is served as before',
});

const store = await openStore('sqlite::memory:');
const account = accountOf('101');
const feeds = await feedsOf([openFeed]);
const log: LogEntry[] = [];
const service = createService({
  store,
  feeds,
  accounts: [account],
  log: (entry) => log.push(entry),
});
const { url } = await service.listen();
await store.upsert('101', fixtureCalls(300));
afterAll(async () => {
  await service.close();
  await store.close();
});

const odd = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e9',
    '99999999999999999999',
    '%',
    '%E0%A4%A',
    '%00',
    '+',
    'null',
    '__proto__',
    '{}',
  ),
);
const filters = ['date_added', 'talk_minutes', 'inc_gce', 'sid'].flatMap((field) =>
  [
    '[1 TO 2]',
    '{* TO *}',
    '[2026-10-01 00:00:00 TO *}',
    ':',
    '[TO]',
    '1',
    '[2026-02-30 00:00:00 TO 2026-01-01 00:00:00]',
  ].map((range) => `${field}:${range}`),
);
const filter = fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...filters) }, odd), {
  maxLength: 3,
});
const only = [
  '{"ppc_campaign":["Brand",null]}',
  '{"ppc_campaign":[1]}',
  '[',
  '{"x":[]}',
  '{"channel":null}',
];
const parameter = fc.oneof(
  fc.tuple(
    fc.constantFrom('rows', 'start'),
    fc.oneof(fc.integer({ min: -3, max: 2_000 }).map(String), odd),
  ),
  fc.tuple(
    fc.constantFrom('q'),
    filter.map((parts) => encodeURI(parts.join(','))),
  ),
  fc.tuple(
    fc.constantFrom('only'),
    fc.oneof(fc.constantFrom(...only).map(encodeURIComponent), odd),
  ),
  fc.tuple(
    fc.constantFrom('version', 'by', 'fields', 'sid'),
    fc.oneof(fc.constantFrom('v2', 'v3', 'week', 'sid,rank'), odd),
  ),
  fc.tuple(
    fc.constantFrom('action', 'access_key', 'secret_access_key'),
    fc.oneof(fc.constantFrom('sms.get_numbers', account.accessKey, account.secretKey), odd),
  ),
  fc.tuple(odd, odd),
);
const path = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '/v3/user/bid-management',
      '/v2/user/bid-management',
      '/v2/user/bid-management/count',
      '/page/summary.json',
      '/page/calls.json',
      '/page/calls.csv',
      '/',
      '/page.js',
      '/openapi.json',
      '/ibp_api.php',
      '/feeds/clicks.csv',
      '/feeds',
      '/healthz',
      '/readyz',
      '/metrics',
    ),
  },
  fc
    .tuple(
      fc.constantFrom(
        '/v3/user/bid-management/',
        '/v2/user/bid-management/',
        '/page/',
        '/',
        '//',
        '/../',
      ),
      odd,
    )
    .map((parts) => parts.join('')),
);
const header = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      `authorization: Bearer ${account.bearerToken}`,
      keyLinesOf('101').trimEnd(),
    ),
  },
  fc.constantFrom(
    'accept-encoding: gzip',
    'accept-encoding: deflate, *;q=0',
    'if-none-match: *',
    'if-modified-since: never',
    'range: bytes=0-5',
    'expect: 100-continue',
    'upgrade: h2c',
    'x-request-id: {}',
    'accept: application/json',
    'x-forwarded-for: ::1, x',
    'content-length: 7',
    'content-type: application/x-www-form-urlencoded',
    'transfer-encoding: chunked',
  ),
  fc
    .tuple(
      fc.constantFrom(
        'host',
        'authorization',
        'access_key',
        'cookie',
        'if-none-match',
        'accept-encoding',
        'x-request-id',
        'content-length',
      ),
      odd,
    )
    .map((parts) => parts.join(': ')),
);
const method = fc.oneof(
  { weight: 5, arbitrary: fc.constant('GET') },
  fc.constantFrom('HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'get', 'PROPFIND'),
);
const request = fc
  .tuple(
    method,
    path,
    fc.array(parameter, { maxLength: 3 }),
    fc.array(header, { maxLength: 4 }),
    fc.oneof(fc.constant(''), odd),
  )
  .map(([verb, place, parameters, headers, body]) => {
    const query = parameters.map((pair) => pair.join('=')).join('&');
    const target = query === '' ? place : `${place}?${query}`;
    const head = [`${verb} ${target} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers];
    return `${head.join('\r\n')}\r\n\r\n${body}`;
  });

// Bytes that are nearly HTTP, in all combinations.
const pieces = [
  'GET / HTTP/1.1\r\n',
  'GET /v3/user/bid-management HTTP/1.1\r\n',
  'POST /ibp_api.php HTTP/1.1\r\n',
  'GET /v3/user/bid-management?rows=2 HTTP/1.1\r\nHost: x\r\n',
  'OPTIONS * HTTP/1.1\r\n',
  'GET http://x/v3/user/bid-management HTTP/1.0\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'QUERY /v3/user/bid-management/count HTTP/1.1\r\n',
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
  '\0',
  '\r\n\r\n',
  'a'.repeat(9_000),
  'b'.repeat(40_000),
  '0\r\n\r\n',
  keyLinesOf('101'),
];
const piece = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...pieces) }, odd);
const behindRefused =
  'HEAD / HTTP/1.1\r\n\r\nGET http://x/ HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n%';
const garbage = fc.array(piece, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));

/** Sends a request and resolves to the statuses of what comes back until the connection ends. */
async function statusesOf(bytes: string): Promise<string[]> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  let seen = '';
  socket.setEncoding('latin1');
  socket.on('data', (part) => {
    seen += part;
  });

  // A refusal may come before all was sent.
  socket.on('error', () => {});
  socket.end(bytes);
  await once(socket, 'close');
  return [...seen.matchAll(/^HTTP\/1\.\d (\d{3}) /gm)].map(([, status = '']) => status);
}

test(`none of ${count} is a fault of the service`, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  process.stdout.write(`fuzzed-requests: seed ${seed}\n`);
  const bytes = fc.oneof({ weight: 9, arbitrary: request }, garbage, fc.constant(behindRefused));
  const requests = fc.sample(bytes, { numRuns: count, seed });
  const seen: Record<string, number> = {};
  const faults: string[] = [];

  const lane = async (): Promise<void> => {
    for (let bytes = requests.pop(); bytes !== undefined; bytes = requests.pop()) {
      const statuses = await statusesOf(bytes);
      for (const status of statuses) seen[status] = (seen[status] ?? 0) + 1;
      if (statuses.some((status) => status >= '500')) faults.push(bytes);
    }
  };

  await Promise.all(Array.from({ length: 24 }, lane));
  tally.add({ runs: count, lied: faults.length });
  process.stdout.write(`fuzzed-requests: ${JSON.stringify(seen)}\n`);
  expect(faults).toEqual([]);
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);

  // Requests got as far as each of these answers.
  expect(Object.keys(seen)).toEqual(expect.arrayContaining(['200', '400', '401', '404', '405']));
  const headers = { authorization: `Bearer ${account.bearerToken}` };
  const counted = await fetch(`${url}/v2/user/bid-management/count`, { headers });
  expect(await counted.json()).toEqual({ count: 300 });
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  await expect.poll(metrics, { timeout: 5_000 }).toMatch(/^calls_http_requests_in_flight 1$/m);
  expect(await metrics()).toMatch(/^calls_http_requests_waiting 0$/m);
}, 600_000);
