import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore, type Store } from '@call-attribution/store';
import { openDrill } from '@call-attribution/test-tools/drill';
import { localhostTls } from '@call-attribution/test-tools/tls';
import { afterAll, describe, expect, test } from 'vitest';
import { createService, type LogEntry, type ServiceOptions } from '../../src/index.ts';
import {
  badRequests,
  countStatuses,
  openSocket,
  pageRequest,
  pipelinedPages,
  silentConnections,
  slowReaders,
  type Target,
  wrong,
} from '../attack/attacks.ts';
import { sendGarbage } from '../attack/garbage.ts';

openDrill({
  name: 'limits',
  kind: 'hostile clients',
  what: 'Clients are silent, slow, greedy and wrong in many ways; each limit closes the right connection and nothing else',
  countTests: true,
});

const account = {
  id: '101',
  name: 'One',
  accessKey: 'test_access_101',
  secretKey: 'test_secret_101',
  bearerToken: 'test_bearer_101',
};
const keys = 'access_key: test_access_101\r\nsecret_key: test_secret_101\r\n';
const headers = { access_key: account.accessKey, secret_key: account.secretKey };
const list = '/v3/user/bid-management?q=inc_gce:1';
const tls = { cert: localhostTls.cert, key: localhostTls.key };

const folder = mkdtempSync(join(tmpdir(), 'calls-attack-'));
const store = await openStore(`sqlite:${folder}/calls.db`);
await store.putAccount({ id: '101', name: 'One' });
await store.load('101', fixtureCalls(600));
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function started(options: Omit<ServiceOptions, 'store'> & { store?: Store } = {}, at = {}) {
  const log: LogEntry[] = [];
  const service = createService({ store, accounts: [account], log: (entry) => log.push(entry), ...options });
  const { url, adminUrl } = await service.listen({ adminPort: 0, ...at });
  afterAll(() => service.close());
  const isSecure = url.startsWith('https:');
  const port = Number(new URL(url).port);
  const target: Target = { port, isSecure, from: ['127.0.0.2', '127.0.0.3'], keys };
  const metric = async (line: string) => {
    const found = new RegExp(`^${line.replace(/[{}"]/g, '\\$&')} (.+)$`, 'm').exec(
      await (await fetch(`${adminUrl}/metrics`)).text(),
    );
    return found === null ? 0 : Number(found[1]);
  };
  return { url, target, metric, log, service };
}

const closedFor = (reason: string) => `calls_http_connections_closed_total{reason="${reason}"}`;
const until = async (condition: () => boolean | Promise<boolean>) => {
  while (!(await condition())) await new Promise((done) => setTimeout(done, 10));
};
const later = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** The status and body of the first response to some bytes, and whether the connection ended after it. */
async function reply(target: Target, bytes: string | Buffer): Promise<{ status: number; body: string }> {
  const socket = openSocket(target, 0);
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('utf8');
  });
  socket.write(bytes);
  await new Promise((done) => {
    socket.once('close', done);
    const check = () => {
      const [, length] = /content-length: (\d+)/i.exec(received) ?? [];
      const start = received.indexOf('\r\n\r\n') + 4;
      if (length !== undefined && Buffer.byteLength(received.slice(start)) >= Number(length)) done(undefined);
    };
    socket.on('data', check);
  });
  socket.destroy();
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0),
    body: received.slice(received.indexOf('\r\n\r\n') + 4),
  };
}

describe('silent TLS connections', () => {
  test('they do not keep a client from being served, and are closed after the time of a handshake', async () => {
    const limits = { connections: 40, handshakes: 10, handshakeTimeout: 400 };
    const { target, metric } = await started({ limits }, { tls });
    let end = (): void => undefined;
    const ended = new Promise<void>((done) => {
      end = done;
    });
    const silent = silentConnections(target, 80, ended);
    const closed = async () => {
      const reasons = ['total', 'handshakes', 'handshake_timeout'].map((reason) => metric(closedFor(reason)));
      return (await Promise.all(reasons)).reduce((sum, n) => sum + n, 0);
    };
    await until(async () => (await closed()) >= 40);
    expect((await reply({ ...target, from: ['127.0.0.9'] }, pageRequest(target, 1))).status).toBe(200);
    await until(async () => (await closed()) >= 80);
    end();
    expect(await silent).toMatchObject({ closed: 80, open: 0 });
  });

  test('bytes that are not TLS end the connection without a response', async () => {
    const { target } = await started({}, { tls });
    const socket = openSocket({ ...target, isSecure: false }, 0);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((done) => socket.resume().once('close', done));
    expect(socket.bytesRead).toBeLessThan(20);
  });
});

describe('connections of one address', () => {
  test('beyond the limit the one that has waited longest gives way, and none that is at work', async () => {
    const { target, metric } = await started({
      limits: { connectionsPerAddress: 3 },
      intercept: (request, _response, next) => (request.url === '/wait' ? undefined : next()),
    });
    const from = { ...target, from: ['127.0.0.2'] };
    const atWork = openSocket(from, 0);
    atWork.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n');
    const idle = [openSocket(from, 0), openSocket(from, 0)];
    await until(async () => (await metric('calls_http_connections')) >= 4);
    await later(300);
    const ended = new Promise((done) => idle[0]?.once('close', done));
    expect((await reply(from, pageRequest(from, 1))).status).toBe(200);
    await ended;
    expect([atWork.destroyed, idle[1]?.destroyed]).toEqual([false, false]);
    expect(await metric(closedFor('address'))).toBe(1);
    expect((await reply({ ...target, from: ['127.0.0.3'] }, pageRequest(target, 1))).status).toBe(200);
    for (const socket of [atWork, ...idle]) socket.destroy();
  });

  test('when all are at work, a new one is closed, and the log says what to do if the address is a proxy', async () => {
    let atWork = 0;
    const { target, log, service } = await started({
      limits: { connectionsPerAddress: 2, drainTimeout: 50 },
      intercept: () => {
        atWork += 1;
      },
    });
    const sockets = [0, 1].map(() => openSocket({ ...target, from: ['127.0.0.2'] }, 0));
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => atWork === 2);
    const late = openSocket({ ...target, from: ['127.0.0.2'] }, 0);
    await new Promise((done) => late.resume().once('close', done));
    await service.close();
    expect(log.map(({ message }) => message).join()).toContain('If it is your proxy, name it in proxies');
    for (const socket of sockets) socket.destroy();
  });

  test('the limit does not apply to a proxy that was named', async () => {
    const { target, metric } = await started({
      limits: { connectionsPerAddress: 2 },
      proxies: ['10.0.0.0/8', '127.0.0.2'],
    });
    const sockets = Array.from({ length: 10 }, () => openSocket({ ...target, from: ['127.0.0.2'] }, 0));
    await until(async () => (await metric('calls_http_connections')) >= 11);
    expect(await metric(closedFor('address'))).toBe(0);
    for (const socket of sockets) socket.destroy();
  });

  test.each(['proxy.example', '10.0.0.0/33', '10.0.0', ''])('"%s" is refused as a proxy', async (proxy) => {
    const service = createService({ store, proxies: [proxy] });
    await expect(service.listen()).rejects.toThrow(/is not an IP address or network/);
  });
});

describe('requests sent ahead', () => {
  test('those within the limit are served in order, the next one is refused, and the connection ends', async () => {
    const { target, metric } = await started({ limits: { pipelined: 5 } });
    const { statuses, closed } = await pipelinedPages(target, 60, { rows: 2 });
    expect([statuses, closed]).toEqual([{ 200: 6, 429: 1 }, 1]);
    expect(await metric('calls_http_requests_waiting')).toBe(0);
  });

  test('none is handled any more when the client has left', async () => {
    let pages = 0;
    const page: Store['page'] = async (...query) => {
      pages += 1;
      await later(20);
      return store.page(...query);
    };
    const { target, metric, log } = await started({ store: { ...store, page } });
    await pipelinedPages(target, 60, { leaveAfterMs: 50 });
    await until(async () => (await metric('calls_http_requests_in_flight')) === 1);
    await later(100);
    expect(pages).toBeLessThan(10);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('a thousand of them end the connection at once', async () => {
    const { target } = await started({ intercept: () => undefined });
    const socket = openSocket(target, 0);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_200));
    await new Promise((done) => socket.resume().once('close', done));
    expect(socket.bytesRead).toBe(0);
  });

  test('a connection with many of them does not keep another one waiting', async () => {
    const order: string[] = [];
    const page: Store['page'] = async (id, query) => {
      order.push(query.rows === 7 ? 'good' : 'bad');
      return store.page(id, query);
    };
    const { target } = await started({ store: { ...store, page }, limits: { pipelined: 100 } });
    const pipelined = pipelinedPages(target, 80, { rows: 250 });
    await until(() => order.length > 0);
    expect((await reply({ ...target, from: ['127.0.0.9'] }, pageRequest(target, 7))).status).toBe(200);
    const before = order.indexOf('good');
    await pipelined;
    expect(order.filter((who) => who === 'bad').length).toBe(80);
    expect(before).toBeLessThan(60);
  });

  test('addresses with many requests in progress do not keep one with a single request waiting', async () => {
    const order: string[] = [];
    const page: Store['page'] = async (id, query) => {
      order.push(query.rows === 7 ? 'good' : 'bad');
      await later(5);
      return store.page(id, query);
    };
    const { target } = await started({ store: { ...store, page }, limits: { atWork: 1 } });
    const good = { ...target, from: ['127.0.0.40'] };
    expect((await reply(good, pageRequest(target, 7))).status).toBe(200);
    const many = Array.from({ length: 60 }, (_, i) =>
      pipelinedPages({ ...target, from: [`127.0.0.${10 + (i % 15)}`] }, 4, { rows: 2 }),
    );
    await until(() => order.length > 60);
    const before = order.length;
    for (let i = 0; i < 5; i += 1) expect((await reply(good, pageRequest(target, 7))).status).toBe(200);
    // With equal shares there would be 15 before each.
    expect(order.slice(before, order.lastIndexOf('good')).filter((who) => who === 'bad').length).toBeLessThan(
      40,
    );
    await Promise.all(many);
    expect(order.filter((who) => who === 'bad')).toHaveLength(240);
  });

  test('what is not a request is refused after the responses before it, never among their bytes', async () => {
    const { target } = await started();
    const socket = openSocket(target, 0);
    const statuses = {};
    let received = '';
    countStatuses(socket, statuses);
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString();
    });
    socket.write(`${pageRequest(target, 600)}nonsense\r\n\r\n`);
    await new Promise((done) => socket.once('close', done));
    expect(statuses).toEqual({ 200: 1, 400: 1 });
    expect(received.indexOf('0\r\n\r\nHTTP/1.1 400')).toBeGreaterThan(0);
  });
});

describe('abandoned work', () => {
  test('the rest of a page is not read when its client has left', async () => {
    let read = 0;
    let ended = false;
    const page: Store['page'] = async () => {
      const body = (async function* () {
        try {
          for (; read < 1_000; read += 1) {
            await later(1);
            yield Buffer.alloc(100, 0x20);
          }
        } finally {
          ended = true;
        }
      })();
      return { total: 1_000, count: 1_000, body };
    };
    const { target, log } = await started({ store: { ...store, page } });
    const socket = openSocket(target, 0);
    socket.write(pageRequest(target, 1_000));
    await until(() => read > 3);
    socket.resetAndDestroy();
    await until(() => ended);
    expect(read).toBeLessThan(900);
    await until(() => log.length > 0);
    expect(log).toMatchObject([{ level: 'info', message: 'abandoned', status: 200 }]);
  });

  test('the store gets a signal that ends with the client', async () => {
    const seen: (AbortSignal | undefined)[] = [];
    const page: Store['page'] = (_account, { signal }) => {
      seen.push(signal);
      return new Promise((_done, fail) => signal?.addEventListener('abort', () => fail(signal.reason)));
    };
    const { target, log, metric } = await started({ store: { ...store, page } });
    const socket = openSocket(target, 0);
    socket.write(pageRequest(target, 10));
    await until(() => seen.length === 1);
    socket.destroy();
    await until(async () => (await metric('calls_http_requests_in_flight')) === 1);
    expect(seen[0]?.aborted).toBe(true);
    expect(log[0]).toMatchObject({ level: 'info', message: 'abandoned', status: 499 });
  });
});

describe('slow readers', () => {
  const endless: Store['page'] = async () => ({
    total: 9_000,
    count: 9_000,
    body: (async function* () {
      for (let i = 0; i < 400; i += 1) yield Buffer.alloc(256 * 1024, 0x20);
    })(),
  });

  test('a client that does not take the response is closed after the time for it', async () => {
    const { target, metric, log } = await started({
      store: { ...store, page: endless },
      limits: { sendTimeout: 150 },
    });
    await slowReaders(
      target,
      3,
      1,
      until(async () => (await metric(closedFor('slow_reader'))) === 3),
    );
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
    expect(log.filter(({ message }) => message === 'abandoned')).toHaveLength(3);
    expect(await metric('calls_http_requests_in_flight')).toBe(1);
  });

  test('when their responses take too much memory, the slowest give way to others', async () => {
    const { target, metric } = await started({
      store: {
        ...store,
        page: (id, query) => (query.rows === 1_000 ? endless(id, query) : store.page(id, query)),
      },
      limits: { unsentBytes: 512 * 1024 },
    });
    await slowReaders(
      target,
      10,
      1,
      until(async () => {
        expect((await reply({ ...target, from: ['127.0.0.9'] }, pageRequest(target, 5))).status).toBe(200);
        return (await metric(closedFor('unsent_bytes'))) > 0;
      }),
    );
  });
});

describe('bad requests', () => {
  test('170 of them are refused one by one, none with a fault of the service', async () => {
    const { target, log } = await started({}, { tls });
    const { statuses } = await badRequests(target, 170, 6);
    const total = Object.values(statuses).reduce((sum, n) => sum + n, 0);
    expect(total).toBe(170);
    expect(Object.keys(statuses).sort()).toEqual(['200', '400', '401', '404', '405', '414', '417', '431']);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test.each(wrong.map((bytes) => [bytes.slice(0, 50).replaceAll('\r\n', ' '), bytes]))(
    'the refusal of "%s" is one document with a sentence',
    async (_title, bytes) => {
      const { target } = await shared;
      const { status, body } = await reply(target, bytes);
      if (body.startsWith('<')) return expect(body).toMatch(/<result_description>[A-Z][^<]+</);
      const { detail, code } = JSON.parse(body) as { detail: string; code: string };
      expect([status >= 400 && status < 500, detail]).toEqual([
        true,
        expect.stringMatching(/^(?:[A-Z]|v3 ).+\.$/),
      ]);
      expect(code).toMatch(/^[a-z_]+$/);
    },
  );

  test('CONNECT is refused with a sentence', async () => {
    const { target } = await shared;
    const { status, body } = await reply(target, 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect([status, JSON.parse(body).code]).toEqual([405, 'method_not_allowed']);
  });

  test('a whole URL as the target is accepted, as HTTP demands', async () => {
    const { target } = await shared;
    const request = pageRequest(target, 3).replace('GET /', 'GET http://calls.example/');
    const { status, body } = await reply(target, request);
    expect([status, (JSON.parse(body) as unknown[]).length]).toEqual([200, 3]);
  });

  test('no bytes make it fail, hang or end', async () => {
    const { target, url, log } = await shared;
    await sendGarbage(target, 25);
    expect((await fetch(url + list, { headers })).status).toBe(200);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

const shared = started();
