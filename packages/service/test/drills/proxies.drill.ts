// The files of docs/proxies with the real programs: only names, ports and certificates are
// replaced.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { openDrill } from '@call-attribution/test-tools/drill';
import { localhostTls } from '@call-attribution/test-tools/tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService, type LogEntry } from '../../src/index.ts';
import { freePort, hasProgram, startCaddy, startNginx } from '../attack/proxies.ts';
import { accountOf, feed, feedsOf, keysOf, password } from '../stage.ts';

openDrill({
  name: 'proxies',
  kind: 'hostile clients',
  what: 'The service behind nginx and Caddy with the files of docs/proxies: pages, compression and 304 pass, clients are told apart, those that leave are noticed, and nginx keeps its limits of rates and connections',
  countTests: true,
});

const pagePassword = 'the password of the page';
const folder = mkdtempSync(join(tmpdir(), 'proxies-'));
const store = await openStore('sqlite::memory:');
const calls = fixtureCalls(5_000);
const log: LogEntry[] = [];
const service = createService({
  store,
  accounts: [accountOf('101')],
  proxies: ['127.0.0.1'],
  page: { password: pagePassword },
  feeds: await feedsOf([feed]),
  routes: [{ path: '/slow', handle: () => new Response(long()) }],
  log: (entry) => log.push(entry),
});

/** A body that no buffer on the way takes whole. */
function long(): ReadableStream<Uint8Array> {
  let left = 1_000;

  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    left -= 1;
    if (left < 0) controller.close();
    else controller.enqueue(new Uint8Array(65_536));
  };

  return new ReadableStream({ pull }, { highWaterMark: 0 });
}
const behind = await service.listen({ adminPort: 0 });
await store.upsert('101', calls);
afterAll(async () => {
  await service.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const list = '/v3/user/bid-management?q=inc_gce:1';
const keys = keysOf('101');
let port = 0;

interface Asked {
  readonly headers?: Record<string, string>;
  /** Address of the client. */
  readonly from?: string;
}

/** Begins a request through the proxy, each on a connection of its own. */
async function begin(
  path: string,
  { headers = {}, from = '127.0.0.1' }: Asked = {},
): Promise<IncomingMessage> {
  const agent = new Agent({ ca: localhostTls.cert, localAddress: from });
  const asked = request({ host: 'localhost', family: 4, port, path, headers, agent });
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return response;
}

async function ask(path: string, asked: Asked = {}) {
  const response = await begin(path, asked);
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

const isUp = async () => (await ask('/healthz')).status === 200;
const inProgress = async () => {
  const metrics = await (await fetch(`${behind.adminUrl}/metrics`)).text();
  return Number(/^calls_http_requests_in_flight (\d+)$/m.exec(metrics)?.[1]) - 1;
};
const countOf = (statuses: readonly (number | undefined)[]) =>
  Object.fromEntries(
    [...new Set(statuses)].sort().map((one) => [one, statuses.filter((s) => s === one).length]),
  );

/**
 * What holds behind any proxy. Its clients have addresses of their own, which others have not used.
 */
function passes(network: string): void {
  test('a page comes through as it was sent, and is 304 when the client has it', async () => {
    const direct = await fetch(`${behind.url}${list}&rows=1000`, { headers: keys });
    const seen = await ask(`${list}&rows=1000`, { headers: keys });
    expect([seen.status, seen.headers['content-range']]).toEqual([200, '1-1000/5000']);
    expect(seen.body === (await direct.text())).toBe(true);
    const again = { ...keys, 'if-none-match': seen.headers.etag ?? '' };
    expect((await ask(`${list}&rows=1000`, { headers: again })).status).toBe(304);
    const packed = await begin(`${list}&rows=1000`, {
      headers: { ...keys, 'accept-encoding': 'gzip' },
    });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect((await text(packed)).length).toBeLessThan(seen.body.length / 3);
  });

  test('who signs in on the page gets a cookie for TLS only, and the page', async () => {
    const agent = new Agent({ ca: localhostTls.cert });
    const asked = request({
      host: 'localhost',
      family: 4,
      port,
      path: '/sign-in',
      method: 'POST',
      agent,
      headers: {
        origin: `https://localhost:${port}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
    asked.end(new URLSearchParams({ password: pagePassword }).toString());
    const [signedIn] = (await once(asked, 'response')) as [IncomingMessage];
    signedIn.resume();
    const [cookie = ''] = signedIn.headers['set-cookie'] ?? [];
    expect([signedIn.statusCode, cookie]).toEqual([303, expect.stringMatching(/; Secure/)]);
    const headers = { cookie: cookie.split(';')[0] ?? '' };
    expect((await ask('/page/calls.json?rows=1', { headers })).status).toBe(200);
    expect((await ask('/page/calls.json?rows=1')).status).toBe(401);
  });

  test('a long filter passes, and wrong keys are refused by the service', async () => {
    const long = `talk_minutes:[${'0'.repeat(8_000)}1 TO *]`;
    expect((await ask(`${list}&q=${encodeURIComponent(long)}`, { headers: keys })).status).toBe(
      400,
    );
    expect(JSON.parse((await ask(list)).body)).toMatchObject({ code: 'missing_credentials' });
    expect((await ask('/v3/user/bid-management/none', { headers: keys })).status).toBe(404);
  });

  test('metrics are not among what is public', async () => {
    expect((await ask('/metrics')).status).toBe(404);
  });

  test('wrong passwords of a feed count for the client, not for the proxy, whatever the client claims', async () => {
    const guess = (from: string, secret: string) =>
      ask(feed.path, {
        from,
        headers: {
          authorization: `Basic ${btoa(`google:${secret}`)}`,
          'x-forwarded-for': '203.0.113.9',
        },
      }).then(({ status }) => status);

    const guesses = Array.from({ length: 40 }, (_, i) => guess(`${network}.2`, `wrong ${i}`));
    const other = guess(`${network}.3`, password);
    expect(Object.keys(countOf(await Promise.all(guesses)))).toEqual(['401', '429']);
    expect(await other).toBe(200);
  });

  test('a client that leaves in the middle is noticed', async () => {
    const before = log.length;
    const responses = await Promise.all(
      Array.from({ length: 4 }, () =>
        begin(`${list}&rows=1000`, { headers: keys, from: `${network}.4` }),
      ),
    );
    for (const response of responses) response.destroy();
    await expect.poll(inProgress).toBe(0);
    expect(log.slice(before).filter(({ level }) => level === 'error')).toEqual([]);
  });
}

describe.runIf(hasProgram('nginx', 'nginx-light'))('nginx', () => {
  let stop = async (): Promise<void> => {};
  beforeAll(async () => {
    port = await freePort();
    const cert = join(folder, 'calls.pem');
    const key = join(folder, 'calls.key');
    writeFileSync(cert, localhostTls.cert);
    writeFileSync(key, localhostTls.key);
    const given = readFileSync(
      new URL('../../../../docs/proxies/nginx.conf', import.meta.url),
      'utf8',
    );
    const config = given
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace('/etc/ssl/calls.pem', cert)
      .replace('/etc/ssl/calls.key', key)
      .replace('http://127.0.0.1:8675', behind.url);
    stop = await startNginx(join(folder, 'nginx'), config, isUp);
  });
  afterAll(() => stop());

  passes('127.0.1');

  test('a client that sends too many requests is told to slow down, and others are served', async () => {
    const many = await Promise.all(
      Array.from({ length: 400 }, () =>
        ask('/healthz', { from: '127.0.0.5' }).then(({ status }) => status),
      ),
    );
    expect(Object.keys(countOf(many))).toEqual(['200', '429']);
    expect((await ask(`${list}&rows=5`, { headers: keys, from: '127.0.0.6' })).status).toBe(200);
  });

  test('a client has at most 50 responses at a time that it does not read, and others are served', async () => {
    const slow = await Promise.all(
      Array.from({ length: 60 }, () => begin('/slow', { from: '127.0.0.7' })),
    );
    expect(countOf(slow.map(({ statusCode }) => statusCode))).toEqual({ 200: 50, 429: 10 });
    expect((await ask(`${list}&rows=5`, { headers: keys, from: '127.0.0.8' })).status).toBe(200);
    for (const response of slow) response.destroy();
    await expect.poll(inProgress).toBe(0);
  });
});

describe.runIf(hasProgram('caddy', 'caddy'))('Caddy', () => {
  let stop = async (): Promise<void> => {};
  beforeAll(async () => {
    port = await freePort();
    const given = readFileSync(
      new URL('../../../../docs/proxies/Caddyfile', import.meta.url),
      'utf8',
    );
    const cert = join(folder, 'caddy.pem');
    const key = join(folder, 'caddy.key');
    writeFileSync(cert, localhostTls.cert);
    writeFileSync(key, localhostTls.key);
    const config = given
      // Neither an administration port nor port 80.
      .replace(/^\{$/m, '{\n\tadmin off\n\tauto_https off')
      .replace(
        'calls.example {',
        `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}`,
      )
      .replace('127.0.0.1:8675', behind.url.replace('http://', ''));
    stop = await startCaddy(join(folder, 'caddy'), config, isUp);
  });
  afterAll(() => stop());

  passes('127.0.2');
});
