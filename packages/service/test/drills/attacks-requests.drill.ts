import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService } from '../../src/index.ts';
import { freePort, hasProgram, startNginx } from '../attack/proxies.ts';
import { accountOf, feed, feedsOf, heldTimers, keyLinesOf, password } from '../stage.ts';

openDrill({
  name: 'attacks-requests',
  kind: 'hostile clients',
  what: '51 raw requests with wrong, doubled, folded and smuggled parts, 28 smuggling tricks through nginx, and guesses at a feed; nobody reads calls without the keys of their account, nothing answers 5xx, and no request gets past the proxy unseen',
  countTests: true,
});

const folder = mkdtempSync(join(tmpdir(), 'attacks-'));
const store = await openStore('sqlite::memory:');
const own = fixtureCalls(5);
const foreign = fixtureCalls(9).slice(5);
await store.putAccount({ id: '101', name: 'One' });
await store.putAccount({ id: '102', name: 'Two' });
await store.upsert('101', own);
await store.upsert('102', foreign);

/** Requests that did not come through the proxy although they came from it. */
const unseen: string[] = [];
let isBehindProxy = false;
const service = createService({
  store,
  accounts: [accountOf('101'), accountOf('102')],
  proxies: ['127.0.0.1'],
  headTimeout: '1s',
  idleTimeout: '1s',
  feeds: await feedsOf([feed]),
  intercept(request, _, next) {
    if (isBehindProxy && request.headers['x-through'] !== 'nginx') unseen.push(String(request.url));
    return next();
  },
});
const { url } = await service.listen();
const port = Number(new URL(url).port);
afterAll(async () => {
  await service.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends bytes as they are and collects what comes back until the connection ends. */
async function send(bytes: string, to = port): Promise<string> {
  const socket = connect({ port: to, host: '127.0.0.1' });
  let seen = '';
  socket.setEncoding('latin1').on('data', (part) => {
    seen += part;
  });

  // A refusal may come before all was sent.
  socket.on('error', () => {});

  // To the service a client that closes its side has left.
  socket[to === port ? 'write' : 'end'](Buffer.from(bytes, 'latin1'));
  await once(socket, 'close');
  return seen;
}

const sidsIn = (text: string, calls: typeof own) =>
  calls.filter(({ sid }) => text.includes(`"${sid}"`));
const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.\d (\d{3}) /g)].map(([, status]) => Number(status));

const path = '/v3/user/bid-management?q=inc_gce:1';
const keys = keyLinesOf('101').trimEnd();
const head = (line: string, ...lines: string[]) =>
  `${[line, 'Host: calls.example', 'Connection: close', ...lines].join('\r\n')}\r\n\r\n`;
const get = (...lines: string[]) => head(`GET ${path} HTTP/1.1`, ...lines);
const at = (target: string) => head(`GET ${target} HTTP/1.1`, keys);
const body = '0\r\n\r\n';

/** `none`: no call may come back. `own`: at most calls of the account. */
const requests: readonly (readonly [name: string, bytes: string, may: 'none' | 'own'])[] = [
  ['no keys', get(), 'none'],
  ['a wrong secret', get('access_key: access_101_key', 'secret_key: wrong'), 'none'],
  ['an access key alone', get('access_key: access_101_key'), 'none'],
  ['a secret alone', get('secret_key: secret_101_key'), 'none'],
  [
    'the secret of another account',
    get('access_key: access_101_key', 'secret_key: secret_102_key'),
    'none',
  ],
  ['empty keys', get('access_key:', 'secret_key:'), 'none'],
  ['a NUL in a key', get('access_key: access_101_key\0', 'secret_key: secret_101_key'), 'none'],
  ['two access keys', get('access_key: access_102_key', keys), 'none'],
  ['the same access key twice', get('access_key: access_101_key', keys), 'none'],
  ['two secrets', get('secret_key: secret_102_key', keys), 'none'],
  [
    'keys in the query',
    head(`GET ${path}&access_key=access_101_key&secret_key=secret_101_key HTTP/1.1`),
    'none',
  ],
  ['keys in a cookie', get('Cookie: access_key=access_101_key; secret_key=secret_101_key'), 'none'],
  ['keys as Basic', get(`Authorization: Basic ${btoa('access_101_key:secret_101_key')}`), 'none'],
  ['a wrong token', get('Authorization: Bearer wrong'), 'none'],
  ['an access key as a token', get('Authorization: Bearer access_101_key'), 'none'],
  ['an empty token', get('Authorization: Bearer '), 'none'],
  [
    'two Authorization headers',
    get('Authorization: Bearer wrong', 'Authorization: Bearer bearer_102_key x'),
    'none',
  ],
  [
    'headers that name another account',
    get(keys, 'X-Account: 102', 'X-Forwarded-User: 102', 'X-Original-URL: /102'),
    'own',
  ],
  ['a filter for another account', at(`${path}%20AND%20acct_id:102`), 'own'],
  ['the sid of another account', at(`/v3/user/bid-management/${foreign[0]?.sid}`), 'none'],
  ['dots in the path', at('/v3/user/../user/bid-management?q=inc_gce:1'), 'own'],
  ['encoded dots and slashes', at('/v3/user/bid-management/..%2f..%2fetc/passwd'), 'none'],
  ['a path out of everything', at('/%2e%2e/%2e%2e/%2e%2e/etc/passwd'), 'none'],
  ['doubled slashes', at('/v3//user//bid-management'), 'own'],
  ['an encoded NUL', at('/v3/user/bid-management%00'), 'none'],
  ['a raw NUL', at('/v3/user/bid-management\0'), 'none'],
  ['the absolute form of another host', at(`http://evil.example${path}`), 'own'],
  ['CONNECT', head('CONNECT evil.example:443 HTTP/1.1', keys), 'none'],
  ['TRACE', head(`TRACE ${path} HTTP/1.1`, keys), 'none'],
  ['OPTIONS *', head('OPTIONS * HTTP/1.1', keys), 'none'],
  ['DELETE', head(`DELETE ${path} HTTP/1.1`, keys), 'none'],
  ['POST', head(`POST ${path} HTTP/1.1`, keys, 'Content-Length: 0'), 'none'],
  ['HTTP/1.0 without keys', `GET ${path} HTTP/1.0\r\n\r\n`, 'none'],
  ['HTTP/0.9', `GET ${path}\r\n`, 'none'],
  ['HTTP/2.0', head(`GET ${path} HTTP/2.0`, keys), 'own'],
  ['no Host', `GET ${path} HTTP/1.1\r\nConnection: close\r\n${keys}\r\n\r\n`, 'none'],
  ['two Hosts', get('Host: evil.example', keys), 'own'],
  [
    'length and chunks',
    `${get(keys, 'Content-Length: 4', 'Transfer-Encoding: chunked')}${body}`,
    'none',
  ],
  ['two lengths', `${get(keys, 'Content-Length: 4', 'Content-Length: 5')}aaaaa`, 'none'],
  ['a negative length', get(keys, 'Content-Length: -1'), 'none'],
  ['a length with a sign', `${get(keys, 'Content-Length: +4')}aaaa`, 'none'],
  ['chunked, identity', `${get(keys, 'Transfer-Encoding: chunked, identity')}${body}`, 'none'],
  ['a folded encoding', `${get(keys, 'Transfer-Encoding:\r\n chunked')}${body}`, 'own'],
  [
    'a folded key',
    get(
      'access_key:\r\n access_102_key',
      'access_key: access_101_key',
      'secret_key: secret_101_key',
    ),
    'none',
  ],
  ['bare line feeds', get(keys).replaceAll('\r\n', '\n'), 'none'],
  [
    'a space before a colon',
    get('access_key : access_101_key', 'secret_key: secret_101_key'),
    'none',
  ],
  ['a tab in a name', get('access\t_key: access_101_key', 'secret_key: secret_101_key'), 'none'],
  ['a header of 256 KB', get(keys, `X-Long: ${'a'.repeat(262_144)}`), 'none'],
  ['a URL of 256 KB', at(`${path}&x=${'a'.repeat(262_144)}`), 'none'],
  ['5,000 headers', get(keys, ...Array.from({ length: 5_000 }, (_, i) => `X-${i}: 1`)), 'none'],
  ['impossible rows', at(`${path}&rows=1e99&page=-1`), 'own'],
];

describe('a raw request', () => {
  test('the right keys get the calls of their account', async () => {
    expect(requests).toHaveLength(51);
    const seen = await send(get(keys));
    expect(statuses(seen)).toEqual([200]);
    expect([sidsIn(seen, own).length, sidsIn(seen, foreign).length]).toEqual([5, 0]);
  });
  test.each(requests)('with %s', async (_, bytes, may) => {
    const seen = await send(bytes);
    expect(sidsIn(seen, foreign)).toEqual([]);
    if (may === 'none') expect(sidsIn(seen, own)).toEqual([]);
    expect(statuses(seen).filter((status) => status >= 500 && status !== 505)).toEqual([]);
    // Nothing that was sent as a secret comes back.
    expect(seen).not.toContain('secret_101_key');
  });
});

const smuggled = `GET ${path}&rows=3 HTTP/1.1\r\nHost: calls.example\r\n${keyLinesOf('102')}\r\n`;
const chunked = `0\r\n\r\n${smuggled}`;
const withLength = (...lines: string[]) =>
  `POST ${path} HTTP/1.1\r\nHost: calls.example\r\n${lines.join('\r\n')}\r\n\r\n${chunked}`;
const te = (value: string) =>
  withLength(`Content-Length: ${chunked.length}`, `Transfer-Encoding${value}`);
const cl = (value: string) => withLength(`Content-Length${value}`);
const chunks = (text: string) =>
  `POST ${path} HTTP/1.1\r\nHost: calls.example\r\nTransfer-Encoding: chunked\r\n\r\n${text}`;

const tricks: readonly (readonly [name: string, bytes: string])[] = [
  ['length and chunks', te(': chunked')],
  ['chunks in capitals', te(': CHUNKED')],
  ['a tab before the value', te(':\tchunked')],
  ['a vertical tab before the value', te(': \x0bchunked')],
  ['a vertical tab behind the value', te(': chunked\x0b')],
  ['an unknown encoding', te(': xchunked')],
  ['chunked, identity', te(': chunked, identity')],
  ['identity, chunked', te(': identity, chunked')],
  ['a quoted value', te(': "chunked"')],
  ['a parameter', te(': chunked;q=1')],
  ['two encodings', te(': chunked\r\nTransfer-Encoding: x')],
  ['two encodings, the other first', te(': x\r\nTransfer-Encoding: chunked')],
  ['a space before the colon', te(' : chunked')],
  ['a folded value', te(':\r\n chunked')],
  [
    'a bare line feed before the name',
    withLength(`Content-Length: ${chunked.length}`, 'X: y\nTransfer-Encoding: chunked'),
  ],
  [
    'an underscore in the name',
    withLength(`Content-Length: ${chunked.length}`, 'Transfer_Encoding: chunked'),
  ],
  ['a NUL in the value', te(': chunked\0')],
  ['two lengths', cl(`: 5\r\nContent-Length: ${chunked.length}`)],
  ['a list of lengths', cl(`: 5, ${chunked.length}`)],
  ['a length with a sign', cl(': +5')],
  ['a length in hexadecimal', cl(': 0x5')],
  ['a length of two words', cl(`: 5 ${chunked.length}`)],
  ['a negative length', cl(': -5')],
  ['a chunk of a hexadecimal prefix', chunks(`0x0\r\n\r\n${smuggled}`)],
  ['a chunk size that overflows', chunks(`FFFFFFFFFFFFFFFF1\r\n${smuggled}`)],
  ['a chunk that ends with a bare line feed', chunks(`1\na\n0\n\n${smuggled}`)],
  ['a chunk extension with a line feed', chunks(`1;a\nb\r\na\r\n0\r\n\r\n${smuggled}`)],
  ['chunks in HTTP/1.0', te(': chunked').replace('HTTP/1.1', 'HTTP/1.0')],
];

describe.runIf(hasProgram('nginx', 'nginx-light'))('smuggling through nginx', () => {
  let front = 0;
  let stop = async (): Promise<void> => {};
  beforeAll(async () => {
    front = await freePort();
    const config = `upstream calls { server 127.0.0.1:${port}; keepalive 1; }
  server {
    listen 127.0.0.1:${front};
    location / {
      proxy_pass http://calls; proxy_http_version 1.1; proxy_request_buffering off; proxy_ignore_client_abort on;
      proxy_set_header Connection ""; proxy_set_header X-Through nginx;
    }
  }`;
    stop = await startNginx(
      join(folder, 'nginx'),
      config,
      async () => (await fetch(`http://127.0.0.1:${front}/healthz`)).ok,
    );
    isBehindProxy = true;
  });
  afterAll(async () => {
    isBehindProxy = false;
    await stop();
  });

  test.each(tricks)('%s', async (_, bytes) => {
    const seen = await send(bytes, front);

    // Whoever comes next, on the same connection to the service, gets the answer to the own
    // request.
    const good = await send(get('Authorization: Bearer bearer_101_key'), front);
    expect(unseen).toEqual([]);
    expect(sidsIn(seen, own)).toEqual([]);
    expect([statuses(good), sidsIn(good, own).length, sidsIn(good, foreign).length]).toEqual([
      [200],
      5,
      0,
    ]);
  });
});

describe('a feed', () => {
  // Guesses wait for their refusal until the test has seen which are refused at once.
  test.each(['/feeds', feed.path])(
    'of 200 guesses at once at %s only some are checked, and others are let in',
    async (path) => {
      const { clock, waiting, letGo } = heldTimers();
      await using guessed = createService({
        store,
        proxies: ['127.0.0.1'],
        feeds: await feedsOf([feed]),
        clock,
      });
      const { url: at } = await guessed.listen();
      const ask = async (secret: string, address: string): Promise<number> => {
        const headers = {
          authorization: `Basic ${btoa(`google:${secret}`)}`,
          'x-forwarded-for': address,
        };
        return (await fetch(at + path, { headers })).status;
      };
      const seen: number[] = [];
      const guesses = Array.from({ length: 200 }, async (_, i) =>
        seen.push(await ask(`wrong ${i}`, '203.0.113.1')),
      );
      await expect.poll(() => [seen.length, waiting()], { timeout: 60_000 }).toEqual([180, 20]);
      expect(new Set(seen)).toEqual(new Set([429]));
      expect(await ask(password, '198.51.100.7')).toBe(200);
      letGo();
      await Promise.all(guesses);
      expect(seen.slice(180)).toEqual(Array.from({ length: 20 }, () => 401));
    },
  );
});
