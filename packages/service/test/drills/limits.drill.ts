import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
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
import { accountOf, keyLinesOf } from '../stage.ts';

openDrill({
  name: 'limits',
  kind: 'hostile clients',
  what: 'Clients are silent, slow, greedy and wrong in many ways; each limit holds them back and nobody else',
  countTests: true,
});

const tls = { cert: localhostTls.cert, key: localhostTls.key };

const folder = mkdtempSync(join(tmpdir(), 'calls-attack-'));
const store = await openStore(`sqlite:${folder}/calls.db`);
await store.putAccount({ id: '101', name: 'One' });
await store.putAccount({ id: '102', name: 'Two' });
for (const id of ['101', '102']) await store.upsert(id, fixtureCalls(600));
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function started(options: Omit<ServiceOptions, 'store'> & { store?: Store } = {}, at = {}) {
  const log: LogEntry[] = [];
  const service = createService({
    store,
    accounts: [accountOf('101'), accountOf('102')],
    log: (entry) => log.push(entry),
    ...options,
  });
  const { url, adminUrl } = await service.listen({ adminPort: 0, ...at });
  afterAll(() => service.close());
  const isSecure = url.startsWith('https:');
  const port = Number(new URL(url).port);
  const target: Target = {
    port,
    isSecure,
    from: ['127.0.0.2', '127.0.0.3'],
    keys: keyLinesOf('101'),
  };

  const metric = async (line: string) => {
    const found = new RegExp(`^${line.replace(/[{}"]/g, '\\$&')} (.+)$`, 'm').exec(
      await (await fetch(`${adminUrl}/metrics`)).text(),
    );
    return found === null ? 0 : Number(found[1]);
  };

  return { url, target, metric, log, service };
}

const until = async (condition: () => boolean | Promise<boolean>) => {
  while (!(await condition())) await new Promise((done) => setTimeout(done, 10));
};
const later = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/**
 * The status and body of the first response to some bytes, and whether the connection ended after
 * it.
 */
async function reply(
  target: Target,
  bytes: string | Buffer,
): Promise<{ status: number; body: string }> {
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
      if (length !== undefined && Buffer.byteLength(received.slice(start)) >= Number(length))
        done(undefined);
      if (received.endsWith('\r\n0\r\n\r\n')) done(undefined);
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
  test('they are closed after the time of a handshake, and meanwhile a client is served', async () => {
    const { target, metric } = await started({ headTimeout: 400 }, { tls });
    let end = (): void => undefined;
    const ended = new Promise<void>((done) => {
      end = done;
    });
    const silent = silentConnections(target, 80, ended);
    await until(async () => (await metric('calls_http_connections')) > 10);
    expect((await reply(target, pageRequest(target, 1))).status).toBe(200);
    await until(async () => (await metric('calls_http_connections')) <= 1);
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

describe('connections', () => {
  test('beyond the limit a new one is closed and counted, and those that are there stay', async () => {
    const { target, metric } = await started({ connections: 3 }, { adminPort: 0 });
    const sockets = Array.from({ length: 3 }, () => openSocket(target, 0));
    await until(async () => (await metric('calls_http_connections')) >= 4);
    const late = openSocket(target, 0);
    await new Promise((done) => late.resume().once('close', done));
    expect(await metric('calls_http_connections_dropped_total')).toBe(1);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
    for (const socket of sockets) socket.destroy();
  });

  test.each(['proxy.example', '10.0.0.0/33', '10.0.0', ''])(
    '"%s" is refused as a proxy',
    (proxy) => {
      expect(() => createService({ store, proxies: [proxy] })).toThrow(
        /is not an IP address or network/,
      );
    },
  );
});

describe('requests sent ahead', () => {
  test('they are served one by one, in order', async () => {
    let atOnce = 0;
    let most = 0;
    const rows: number[] = [];

    const page: Store['page'] = async (id, query) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      rows.push(query.rows);
      await later(2);
      atOnce -= 1;
      return store.page(id, query);
    };

    const { target, metric } = await started({ store: { ...store, page } });
    const socket = openSocket(target, 0);
    const statuses: Record<string, number> = {};
    countStatuses(socket, statuses);
    socket.write(Array.from({ length: 60 }, (_, i) => pageRequest(target, i + 1)).join(''));
    await until(() => statuses[200] === 60);
    expect([most, rows]).toEqual([1, Array.from({ length: 60 }, (_, i) => i + 1)]);
    expect(await metric('calls_http_requests_waiting')).toBe(0);
    socket.destroy();
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

  test('more than a thousand of them end the connection at once', async () => {
    const { target } = await started({ intercept: () => new Promise(() => {}) });
    const socket = openSocket(target, 0);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_200));
    await new Promise((done) => socket.resume().once('close', done));
    expect(socket.bytesRead).toBe(0);
  });

  test('what is not a request ends the connection, and its refusal never gets among other bytes', async () => {
    const { target } = await started();
    const socket = openSocket(target, 0);
    let received = '';
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString();
    });
    socket.write(`${pageRequest(target, 600)}nonsense\r\n\r\n`);
    await new Promise((done) => socket.once('close', done));
    expect(received.indexOf('HTTP/1.1 400')).toBe(received.lastIndexOf('HTTP/1.1'));
  });
});

describe('places', () => {
  test('an account has so many requests at a time; others of it wait, and those of another account do not', async () => {
    const started_: string[] = [];
    const held: (() => void)[] = [];

    const page: Store['page'] = async (id, query) => {
      started_.push(id);
      if (id === '101') await new Promise<void>((done) => held.push(done));
      return store.page(id, query);
    };

    const { target, metric } = await started({ store: { ...store, page }, atOnce: 3 });
    const bad = Array.from({ length: 10 }, () => reply(target, pageRequest(target, 5)));
    await until(async () => (await metric('calls_http_requests_waiting')) === 7);
    expect(started_).toEqual(['101', '101', '101']);
    expect(
      (await reply(target, pageRequest({ ...target, keys: keyLinesOf('102') }, 5))).status,
    ).toBe(200);

    while (started_.filter((id) => id === '101').length < 10 || held.length > 0) {
      held.shift()?.();
      await later(1);
    }

    expect((await Promise.all(bad)).map(({ status }) => status)).toEqual(
      Array.from({ length: 10 }, () => 200),
    );
  });

  test('one that is not read is free again when the client has left', async () => {
    const { target, metric } = await started({
      store: {
        ...store,
        page: (id, query) => (query.rows === 1_000 ? endless(id, query) : store.page(id, query)),
      },
      atOnce: 4,
    });
    let end = (): void => undefined;
    const ended = new Promise<void>((done) => {
      end = done;
    });
    const slow = slowReaders(target, 12, 1, ended);
    await until(async () => (await metric('calls_http_requests_waiting')) === 8);
    expect(
      (await reply(target, pageRequest({ ...target, keys: keyLinesOf('102') }, 5))).status,
    ).toBe(200);
    end();
    await slow;
    expect((await reply(target, pageRequest(target, 5))).status).toBe(200);
    expect(await metric('calls_http_requests_waiting')).toBe(0);
  });
});

describe('abandoned work', () => {
  test('the rest of a CSV is not read when its client has left', async () => {
    let read = 0;
    let ended = false;
    const [call] = fixtureCalls(1);

    const calls: Store['calls'] = async function* () {
      try {
        for (; read < 1_000_000; read += 1) yield call as Call;
      } finally {
        ended = true;
      }
    };

    const { target, log } = await started({ store: { ...store, calls } });
    const socket = openSocket(target, 0);
    socket.write(pageRequest(target, 1_000).replace(/^GET \S+/, 'GET /page/calls.csv'));
    await until(() => read > 1_000);
    socket.resetAndDestroy();
    await until(() => ended);
    expect(read).toBeLessThan(900_000);
    await until(() => log.length > 0);
    expect(log).toMatchObject([{ level: 'info', message: 'abandoned', status: 200 }]);
  });

  test('the store gets a signal that ends with the client', async () => {
    const seen: (AbortSignal | undefined)[] = [];

    const page: Store['page'] = (_account, { signal }) => {
      seen.push(signal);
      return new Promise((_done, fail) =>
        signal?.addEventListener('abort', () => fail(signal.reason)),
      );
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

/** A page that is longer than what buffers on the way take. */
const endless: Store['page'] = async () => ({
  total: 9_000,
  count: 9_000,
  body: Buffer.alloc(100 * 1024 * 1024, 0x20),
});

test('a client that does not take the response is closed after the time for it', async () => {
  const { target, metric, log } = await started({
    store: { ...store, page: endless },
    sendTimeout: 150,
  });
  const abandoned = () => log.filter(({ message }) => message === 'abandoned').length;
  await slowReaders(
    target,
    3,
    1,
    until(() => abandoned() === 3),
  );
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  expect(await metric('calls_http_requests_in_flight')).toBe(1);
});

describe('bad requests', () => {
  test('170 of them are refused one by one, none with a fault of the service', async () => {
    const { target, log } = await started({}, { tls });
    const { statuses } = await badRequests(target, 170, 6);
    const total = Object.values(statuses).reduce((sum, n) => sum + n, 0);
    expect(total).toBe(170);
    expect(Object.keys(statuses).sort()).toEqual([
      '200',
      '400',
      '401',
      '404',
      '405',
      '414',
      '417',
      '431',
    ]);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test.each(wrong.map((bytes) => [bytes.slice(0, 50).replaceAll('\r\n', ' '), bytes]))(
    'the refusal of "%s" is one document with a sentence',
    async (_title, bytes) => {
      const { target } = await shared;
      const { status, body } = await reply(target, bytes);

      // What is not HTTP, Node.js refuses with a status alone.
      if ([400, 417, 431].includes(status) && /^(?:0\r\n\r\n)?$/.test(body)) return;
      if (body.startsWith('<')) return expect(body).toMatch(/<result_description>[A-Z][^<]+</);
      const { detail, code } = JSON.parse(body) as { detail: string; code: string };
      expect([status >= 400 && status < 500, detail]).toEqual([
        true,
        expect.stringMatching(/^(?:[A-Z]|v3 ).+\.$/),
      ]);
      expect(code).toMatch(/^[a-z_]+$/);
    },
  );

  test('CONNECT ends the connection', async () => {
    const { target } = await shared;
    expect((await reply(target, 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n')).status).toBe(0);
  });

  test('a whole URL as the target is accepted, as HTTP demands', async () => {
    const { target } = await shared;
    const request = pageRequest(target, 3).replace('GET /', 'GET http://calls.example/');
    const { status, body } = await reply(target, request);
    expect([status, (JSON.parse(body) as unknown[]).length]).toEqual([200, 3]);
  });
});

const shared = started();
