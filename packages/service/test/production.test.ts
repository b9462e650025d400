import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { get as getSecure } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore, type Store } from '@call-attribution/store';
import { testStores } from '@call-attribution/test-tools';
import { localhostTls } from '@call-attribution/test-tools/tls';
import { afterAll, describe, expect, test } from 'vitest';
import { createService, type Feed, type LogEntry, type ServiceOptions } from '../src/index.ts';
import { accountOf, keyLinesOf, keysOf } from './stage.ts';

const stores = testStores();
const account = accountOf('101');
const keys = keysOf('101');
const list = '/v3/user/bid-management?q=inc_gce:1';
const calls = fixtureCalls(300);
const store = await openStore('sqlite::memory:');
await store.putAccount({ id: '101', name: 'One' });
await store.upsert('101', calls);
afterAll(() => store.close());

async function started(options: Omit<ServiceOptions, 'store'> & { store?: Store } = {}, at = {}) {
  const service = createService({ store, accounts: [account], ...options });
  const listening = await service.listen(at);
  afterAll(() => service.close());
  const get = (path: string, headers: Record<string, string> = keys) =>
    fetch(listening.url + path, { headers });
  return { ...listening, service, get };
}

describe('health', () => {
  test('it is on the same port as the API and exempt from the rate limit', async () => {
    const { get } = await started({ rateLimit: { requests: 1, per: '1m' } });
    await get(list);
    expect((await get(list)).status).toBe(429);
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect((await get(path, {})).status).toBe(200);
  });

  test('it can have another port, and metrics are only there', async () => {
    const { url, adminUrl } = await started({}, { adminPort: 0 });
    expect(adminUrl).not.toBe(url);
    expect((await fetch(`${adminUrl}/metrics`)).status).toBe(200);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(adminUrl + list, { headers: keys })).status).toBe(404);
  });

  test('the service is not ready when the store does not respond, but alive', async () => {
    const closed = await openStore('sqlite::memory:');
    const { get } = await started({
      store: { ...closed, ping: () => Promise.reject(new Error('gone')) },
    });
    expect((await get('/readyz')).status).toBe(503);
    expect((await get('/healthz')).status).toBe(200);
    await closed.close();
  });

  test('it counts requests by route and status, never by what a caller sent', async () => {
    const { get } = await started();
    await get(list);
    await get('/v3/user/bid-management/secret-sid');
    await get('/nowhere/secret-path');

    // A request counts as completed after its last byte, which a client may have read before.
    const read = async () => (await get('/metrics')).text();
    await expect.poll(read).toMatch(/^calls_http_requests_in_flight 1$/m);
    const metrics = await read();
    expect(metrics).toContain(
      'calls_http_requests_total{route="/v3/user/bid-management",method="GET",status="200"} 1',
    );
    expect(metrics).toContain(
      '{route="/v3/user/bid-management/{sid}",method="GET",status="404"} 1',
    );
    expect(metrics).toContain('calls_http_request_seconds_bucket{route="unknown",le="+Inf"} 1');
    expect(metrics).not.toContain('secret');
    for (const line of metrics.trim().split('\n'))
      expect(line).toMatch(
        /^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{[^}]*(?:\{sid\})?[^}]*\})? [\d.e+-]+)$/,
      );
  });
});

describe('closing the service', () => {
  test('it lets a response in progress finish, accepts no new request, and ends', async () => {
    const held: (() => void)[] = [];
    const { url, service } = await started({
      intercept: (_request, _response, next) =>
        new Promise((done) => held.push(() => done(next()))),
    });
    const slow = fetch(url + list, { headers: keys });
    await expect.poll(() => held.length).toBe(1);
    const stopped = service.close();
    held[0]?.();
    const response = await slow;
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
    expect(await response.json()).toHaveLength(100);
    await stopped;
    await expect(fetch(url + list)).rejects.toThrow();
  });

  test('it does not wait forever for a client that does not read, nor for a response that lost its connection', async () => {
    const { url, service } = await started({
      drainTimeout: 100,
      intercept({ url, socket }, response) {
        if (url === '/lost') (response as ServerResponse).detachSocket(socket);
        return new Promise(() => {});
      },
    });
    const asked = Promise.allSettled([fetch(url + list), fetch(`${url}/lost`)]);
    await new Promise((done) => setTimeout(done, 50));
    await service.close();
    await expect(fetch(url)).rejects.toThrow();
    expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('a request', () => {
  test('it keeps its id in response and log, or gets one', async () => {
    const log: LogEntry[] = [];
    const { get } = await started({ log: (entry) => log.push(entry) });
    const logged = () => log.map(({ requestId }) => requestId);
    expect(
      (await get(list, { ...keys, 'x-request-id': 'abc-1' })).headers.get('x-request-id'),
    ).toBe('abc-1');
    await expect.poll(logged).toEqual(['abc-1']);
    const made = (await get(list, { ...keys, 'x-request-id': 'not ok!' })).headers.get(
      'x-request-id',
    );
    expect(made).toMatch(/^[0-9a-f-]{36}$/);
    await expect.poll(logged).toEqual(['abc-1', made]);
    expect(log[0]).toMatchObject({
      level: 'info',
      method: 'GET',
      route: '/v3/user/bid-management',
      status: 200,
      account: '101',
    });
    expect(JSON.stringify(log)).not.toMatch(/inc_gce|101_key/);
  });

  test('a page that the client has is not read again, until a call of the account changes', async () => {
    const own = await openStore('sqlite::memory:');
    let pages = 0;

    const page: Store['page'] = (id, query) => {
      pages += 1;
      return own.page(id, query);
    };

    const { get } = await started({ store: { ...own, page } });
    const { get: elsewhere } = await started({ store: own, maxRows: 50, rowsOver: 'clamp' });
    await own.upsert('101', calls.slice(0, 60));
    const first = await get(list);
    const tag = String(first.headers.get('etag'));
    const again = (path = list, headers = {}) =>
      get(path, { ...keys, 'if-none-match': tag, ...headers });
    const same = await again();
    expect([same.status, await same.text(), same.headers.get('etag'), pages]).toEqual([
      304,
      '',
      tag,
      1,
    ]);
    expect((await again(`${list}&start=0`)).status).toBe(304);
    for (const path of [`${list}&rows=7`, `${list}&start=1`, list.replace('inc_gce:1', '')])
      expect((await again(path)).status).toBe(200);
    expect((await again(list, { access_key: 'wrong' })).status).toBe(401);
    expect((await elsewhere(list, { ...keys, 'if-none-match': tag })).status).toBe(200);
    await own.upsert('101', calls.slice(60, 61));
    expect((await again()).headers.get('content-range')).toBe('1-61/61');
    await own.remove('101', [calls[0]?.sid ?? '']);
    expect((await again()).headers.get('content-range')).toBe('1-60/60');
    await own.close();
  });

  test('when the store fails, the response says nothing about the store', async () => {
    const log: LogEntry[] = [];
    const page = () =>
      Promise.reject(Object.assign(new Error('relation "calls" of host db-7'), { code: '42P01' }));
    const { get } = await started({ store: { ...store, page }, log: (entry) => log.push(entry) });
    const response = await get(list);
    const body = (await response.json()) as { code: string; requestId: string };
    const id = response.headers.get('x-request-id');
    expect([response.status, body.code, body.requestId]).toEqual([500, 'internal_error', id]);
    expect(JSON.stringify(body)).not.toContain('db-7');
    await expect.poll(() => log[0]).toMatchObject({ level: 'error', error: 'Error 42P01' });
  });

  test('when the store is away, the response asks to try again', async () => {
    const page = () => Promise.reject(Object.assign(new Error('away'), { isRetryable: true }));
    const { get } = await started({ store: { ...store, page } });
    const response = await get(list);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  });

  test('when the body breaks off, the connection is closed, so that the response is not taken for complete', async () => {
    const calls = async function* () {
      for (const call of fixtureCalls(600)) yield call;
      throw Object.assign(new Error('gone'), { code: 'short_page' });
    };

    const log: LogEntry[] = [];
    const { get } = await started({ store: { ...store, calls }, log: (entry) => log.push(entry) });
    await expect(get('/page/calls.csv').then((response) => response.text())).rejects.toThrow();
    await expect.poll(() => log[0]).toMatchObject({ level: 'error', error: 'Error short_page' });
  });

  test('for a client that reads slowly, the store is not read ahead', async () => {
    let read = 0;
    const [call] = fixtureCalls(1);

    const calls = async function* () {
      for (; read < 200_000; read += 1) yield call as Call;
    };

    const { url } = await started({ store: { ...store, calls } });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.pause();
    socket.write(`GET /page/calls.csv HTTP/1.1\r\nHost: x\r\n${keyLinesOf('101')}\r\n`);
    await expect.poll(() => read).toBeGreaterThan(0);
    await new Promise((done) => setTimeout(done, 300));
    expect(read).toBeLessThan(100_000);
    socket.destroy();
  });

  test('one on a new connection does not wait for the large pages of another account', async () => {
    const log: LogEntry[] = [];
    const two = accountOf('102');

    // A large page waits for as many turns as it has rows, and no longer than half a second: the
    // clock stands still, so that a busy machine takes no turn away.
    const clock = { now: () => 0 };
    const { url } = await started({
      accounts: [account, two],
      log: (entry) => log.push(entry),
      clock,
    });

    const ask = (rows: number, token: string) =>
      connect(Number(new URL(url).port), '127.0.0.1').write(
        `GET ${list}&rows=${rows} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      );

    for (let i = 0; i < 60; i += 1) ask(300, account.bearerToken);
    ask(1, two.bearerToken);
    await expect.poll(() => log.length, { timeout: 20_000 }).toBe(61);
    expect(log.findIndex((entry) => entry.account === '102')).toBeLessThan(20);
  });

  test.each(['gzip', 'deflate'])(
    'a page has the same records when it is compressed with %s',
    async (how) => {
      const { get } = await started();
      const plain = await get(`${list}&rows=300`, { ...keys, 'accept-encoding': 'identity' });
      const packed = await get(`${list}&rows=300`, { ...keys, 'accept-encoding': how });
      const encodings = [plain, packed].map(({ headers }) => headers.get('content-encoding'));
      expect(encodings).toEqual([null, how]);
      const records = await packed.json();
      expect(records).toHaveLength(300);
      expect(records).toEqual(await plain.json());
    },
  );

  test('a revoked key and a disabled account are refused within seconds', async () => {
    let time = 0;
    const own = await openStore('sqlite::memory:');
    const { get } = await started({ store: own, clock: { now: () => time } });
    expect((await get(list)).status).toBe(200);
    await own.putAccount({ id: '101', name: 'One', disabled: true });
    time += 3_000;
    expect((await get(list)).status).toBe(403);
    await own.putAccount({ id: '101', name: 'One', disabled: false });
    for (const { id } of await own.credentials('101')) await own.revokeCredential(id);
    time += 3_000;
    expect((await get(list)).status).toBe(401);
  });
});

test('TLS is served with a certificate and key', async () => {
  const { url } = await started({}, { tls: localhostTls });
  expect(url).toMatch(/^https:/);
  const status = await new Promise((done, fail) => {
    getSecure(url + list, { headers: keys, ca: localhostTls.cert }, (response) =>
      done(response.resume().statusCode),
    ).once('error', fail);
  });
  expect(status).toBe(200);
});

test('a store in place of the options, and a misspelled option, are refused', async () => {
  await using store = await openStore('sqlite::memory:');
  expect(() => createService(store as unknown as ServiceOptions)).toThrow(
    'There is no option name.',
  );
  const misspelled = { store, maxRow: 5 } as ServiceOptions;
  expect(() => createService(misspelled)).toThrow('Did you mean maxRows?');
});

test('a port that is taken is refused with what to do', async () => {
  const { url } = await started();
  await expect(started({}, { port: Number(new URL(url).port) })).rejects.toThrow(
    /another program listens there/,
  );
});

test.each(stores)(
  'two instances over one $kind store serve the same calls, also those just written',
  async ({ newUrl }) => {
    const url = await newUrl();
    const [one, two] = await Promise.all([openStore(url), openStore(url)]);
    const first = await started({ store: one });
    const second = await started({ store: two });
    await one.upsert('101', calls.slice(0, 50));
    expect((await second.get(list)).headers.get('content-range')).toBe('1-50/50');
    await two.upsert('101', calls.slice(50, 60));
    expect((await first.get(list)).headers.get('content-range')).toBe('1-60/60');
    expect(await (await first.get(`${list}&rows=7&start=3`)).text()).toBe(
      await (await second.get(`${list}&rows=7&start=3`)).text(),
    );
    await Promise.all([first.service.close(), second.service.close()]);
    await Promise.all([one.close(), two.close()]);
  },
);

describe('a service in a server of the application', () => {
  const form = `action=sms.get_numbers&access_key=${keys.access_key}&secret_access_key=${keys.secret_key}`;
  const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' };

  async function host(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    afterAll(() => server.closeAllConnections());
    afterAll(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test('handler serves the API, the page and health below a prefix, next to paths of the application', async () => {
    const service = createService({ store, accounts: [account], prefix: '/calls/' });
    const url = await host((request, response) =>
      request.url?.startsWith('/calls') ? service.handler(request, response) : response.end('own'),
    );
    const page = await (await fetch(`${url}/calls${list}&rows=50`, { headers: keys })).json();
    expect(page).toHaveLength(50);
    expect(await (await fetch(`${url}/calls/healthz`)).text()).toBe('ok\n');
    expect(await (await fetch(`${url}/calls/openapi.json`)).json()).toMatchObject({
      servers: [{ url: '/calls/' }],
    });
    expect((await fetch(`${url}/calls/nowhere?a=1`)).status).toBe(404);
    expect((await fetch(`${url}/callsign`)).status).toBe(404);
    expect(await (await fetch(`${url}/own`)).text()).toBe('own');
    const slash = await fetch(`${url}/calls?a=1`, { redirect: 'manual' });
    expect([slash.status, slash.headers.get('location')]).toEqual([308, 'calls/']);
    expect((await fetch(`${url}/calls/page/about.json`)).status).toBe(200);
    expect((await (await fetch(`${url}/calls/`)).text()).length).toBeGreaterThan(10);
    expect((await fetch(`${url}/calls/`)).headers.get('content-type')).toMatch(
      /^text\/(?:html|plain)/,
    );
    const metrics = async () => (await fetch(`${url}/calls/metrics`)).text();
    await expect.poll(metrics).toContain('calls_http_requests_in_flight 1\n');
    await service.close();
    const closed = await fetch(`${url}/calls${list}`, { headers: keys });
    expect([closed.status, await closed.json()]).toEqual([
      503,
      expect.objectContaining({ code: 'closing' }),
    ]);
    expect((await fetch(`${url}/calls/readyz`)).status).toBe(503);
  });

  test.each([
    ['/\\\\evil.example', null],
    ['/https:evil.example', null],
    ['/%5c%5cevil.example', '%5c%5cevil.example/'],
    ['//evil.example', 'evil.example/'],
    ['/a/tenant?x=1', 'tenant/?x=1'],
  ])(
    'below a mount with a parameter, %s does not lead to another server',
    async (originalUrl, expected) => {
      const service = createService({ store, accounts: [account] });

      // As Express does with `app.use('/:tenant', handler)`: what it has cut off is in originalUrl
      // only.
      const url = await host((request, response) =>
        service.handler(Object.assign(request, { url: '/', originalUrl }), response),
      );
      const response = await fetch(`${url}/`, { redirect: 'manual' });
      expect(response.headers.get('location')).toBe(expected);
      expect(response.status === 308).toBe(expected !== null);
      const from = new URL(originalUrl.replaceAll('\\', '%5C'), 'http://calls.example');
      if (expected !== null && !originalUrl.startsWith('//'))
        expect(new URL(expected, from).host).toBe('calls.example');
      await service.close();
    },
  );

  test('a form that a parser of the application has read is refused with what to do', async () => {
    const service = createService({ store, accounts: [account] });
    const url = await host(async (request, response) => {
      if (request.headers['x-body'] === 'lost') for await (const _ of request);
      service.handler(request, response);
    });

    const post = async (kind: string) => {
      const headers = { ...urlencoded, 'x-body': kind };
      return (await fetch(`${url}/ibp_api.php`, { method: 'POST', body: form, headers })).text();
    };

    expect(await post('whole')).toContain('Number(s) Returned');
    expect(await post('lost')).toContain('The form was read before it reached the service');
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
    await service.close();
  });

  test('fetch takes a Request; a client that leaves is noticed, and a response that nobody reads ends with the service', async () => {
    const entries: LogEntry[] = [];

    const page: Store['page'] = (id, query) =>
      query.rows === 7
        ? new Promise((_, fail) =>
            query.signal?.addEventListener('abort', () => fail(query.signal?.reason)),
          )
        : store.page(id, query);

    const service = createService({
      store: { ...store, page },
      accounts: [account],
      drainTimeout: 50,
      atOnce: 2,
      log: (entry) => entries.push(entry),
    });

    const ask = (rows: number, init: RequestInit = {}) =>
      service.fetch(
        new Request(`https://calls.example${list}&rows=${rows}`, { headers: keys, ...init }),
      );

    const response = await ask(300);
    expect(response.headers.get('content-range')).toBe('1-300/300');
    expect(await response.json()).toHaveLength(300);
    expect((await ask(300, { method: 'HEAD' })).body).toBeNull();
    const sms = { method: 'POST', body: form, headers: urlencoded };
    const posted = new Request('https://calls.example/ibp_api.php', sms);
    expect(await (await service.fetch(posted)).text()).toContain('Number(s) Returned');
    const leaving = new AbortController();
    const left = ask(7, { signal: leaving.signal });
    leaving.abort();
    expect((await left).status).toBe(499);
    const cancelled = await ask(300);
    await cancelled.body?.cancel();

    // Nobody reads these two, which have the places of the account.
    const unread = [await ask(300), await ask(300)];
    const waiting = ask(300);
    const metrics = async () =>
      (await service.fetch(new Request('https://calls.example/metrics'))).text();
    await expect.poll(metrics).toContain('calls_http_requests_waiting 1');
    const closed = service.close();
    await (await waiting).json();
    await closed;
    for (const each of unread) await expect(each.text()).rejects.toThrow('closed before the end');
    const api = entries.filter(({ route }) => route !== '/metrics');
    expect(api.map(({ message, status }) => [message, status])).toEqual([
      ['completed', 200],
      ['completed', 200],
      ['completed', 200],
      ['completed', 499],
      ['abandoned', 200],
      ['abandoned', 200],
      ['abandoned', 200],
      ['completed', 200],
    ]);
  });

  test('feeds without a password are not served where others can reach them', async () => {
    const service = createService({
      store,
      feeds: [{ path: '/open.csv', access: null } as unknown as Feed],
    });
    await expect(service.fetch(new Request('https://calls.example/open.csv'))).rejects.toThrow(
      'has no password',
    );
    await service.close();
  });
});
