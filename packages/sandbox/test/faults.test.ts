import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReplyChanges } from '@call-attribution/service';
import { afterEach, describe, expect, test } from 'vitest';
import { createFaultBook, type RequestFacts } from '../src/faults/fault-book.ts';
import { createIntercept } from '../src/faults/intercept.ts';
import { createJournal } from '../src/faults/journal.ts';

const list: RequestFacts = { kind: 'list', key: 'k', header: null };

describe('the fault book', () => {
  const hits = (text: string, requests: number, facts = list) => {
    const book = createFaultBook();
    book.set('k', text);
    return Array.from({ length: requests }, () => book.choose(facts).length).join('');
  };

  test.each([
    ['status=500', '111111'],
    ['status=500, times=2', '110000'],
    ['status=500, after=2', '001111'],
    ['status=500, every=3', '100100'],
    ['status=500, after=1, every=2, times=2', '010100'],
    ['status=500; latency=1ms, times=1', '211111'],
    ['status=500, on=single', '000000'],
    ['status=500, share=0', '000000'],
    ['status=500, share=1', '111111'],
  ])('"%s" applies to requests %s', (text, expected) => {
    expect(hits(text, 6)).toBe(expected);
  });

  test('it draws a share from its seed, the same each time', () => {
    const drawn = hits('reset, share=0.5', 400);
    expect(drawn).toBe(hits('reset, share=0.5', 400));
    expect(drawn.split('1').length - 1).toBeGreaterThan(150);
    expect(drawn.split('1').length - 1).toBeLessThan(250);
  });

  test('it applies faults to the key they are set for, or to all with *', () => {
    const book = createFaultBook();
    book.set('k', 'reset');
    book.set('*', 'latency=1ms');
    expect(book.choose({ ...list, key: 'other' })).toEqual([{ latency: '1ms' }]);
    expect(book.choose({ ...list, key: null })).toEqual([{ latency: '1ms' }]);
    expect(book.choose(list)).toEqual([{ latency: '1ms' }, { reset: true }]);
    book.clear('*');
    expect(book.all()).toEqual({ k: [{ reset: true }] });
    book.clear();
    expect(book.choose(list)).toEqual([]);
  });

  test('it counts from 0 when a key is set again, and counts each header separately', () => {
    const book = createFaultBook();
    const count = () => book.choose(list).length;
    book.set('k', 'reset, times=1');
    expect([count(), count()]).toEqual([1, 0]);
    book.set('k', 'reset, times=1');
    expect([count(), count()]).toEqual([1, 0]);
    const withHeader = (header: string) => book.choose({ ...list, header }).length;
    expect([withHeader('reset, times=1'), withHeader('reset, times=1')]).toEqual([1, 0]);
    expect(withHeader('reset,  times=1')).toBe(1);
  });
});

describe('the journal', () => {
  test('it keeps the last entries only, and continues to count', () => {
    const journal = createJournal(3);
    const request = { at: 0, method: 'GET', path: '/', query: '', key: null };
    const entry = { ...request, status: 200, complete: true, faults: [] };
    for (let i = 0; i < 5; i++) journal.add(entry);
    expect(journal.entries().map((kept) => kept.number)).toEqual([3, 4, 5]);
    expect(journal.total).toBe(5);
    journal.clear();
    expect(journal.entries()).toEqual([]);
  });
});

describe('faults on a real connection', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  interface Answer {
    readonly status: number | undefined;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
    readonly end: string;
  }

  async function serve(body = '0123456789abcdef', sized = true) {
    const book = createFaultBook();
    const journal = createJournal();
    const changes: (ReplyChanges | undefined)[] = [];
    const intercept = createIntercept(book, journal, { now: () => 1234 });
    const server = createServer(async (request, response) => {
      const right = await intercept(request, response, async (change) => {
        changes.push(change);
        const length = { 'content-length': String(Buffer.byteLength(body)) };
        return new Response(body, { headers: sized ? length : {} });
      });
      if (right === null) return;
      response.writeHead(right.status, Object.fromEntries(right.headers));
      response.end(Buffer.from(await right.arrayBuffer()));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    closing.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;

    const request = (path: string, headers: Record<string, string> = {}) =>
      new Promise<Answer>((resolve, reject) => {
        get({ port, path, headers }, (response) => {
          let body = '';
          const { statusCode: status, headers } = response;
          const done = (end: string) => resolve({ status, headers, body, end });
          response.on('data', (data) => {
            body += data;
            if (body === 'stop here') done('silence');
          });
          response.on('end', () => done('complete'));
          response.on('error', () => done('broken'));
        }).on('error', reject);
      });

    return { book, journal, changes, request };
  }

  const calls = '/v3/user/bid-management';

  test('stall leaves the connection open and silent', async () => {
    const { request, journal } = await serve('stop here, stop now');
    const response = await request(calls, { 'x-sandbox-faults': 'stall=0.48' });
    expect(response).toMatchObject({ status: 200, body: 'stop here', end: 'silence' });
    expect(journal.entries()).toEqual([]);
  });

  test('reset closes the connection without a response', async () => {
    const { request } = await serve('never sent');
    await expect(request(calls, { 'x-sandbox-faults': 'reset' })).rejects.toThrow('socket hang up');
  });

  test('status and html replace the response', async () => {
    const { request, book } = await serve('never sent');
    book.set('test_access_101', 'status=429, retry-after=3');
    const refused = await request(calls, { access_key: 'test_access_101' });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '3' } });
    const page = await request(calls, { 'x-sandbox-faults': 'html' });
    expect(page).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
    });
  });

  test('waits add up, and of two responses the later fault decides', async () => {
    const { request, journal } = await serve('never sent');
    const faults = 'latency=20ms, status=500; latency=5ms, status=503, retry-after=7';
    const response = await request(calls, { 'x-sandbox-faults': faults });
    expect(response).toMatchObject({ status: 503, headers: { 'retry-after': '7' } });
    expect(JSON.parse(response.body)).toMatchObject({ status: 503, code: 'simulated_fault' });
    while (journal.total < 1) await new Promise((resolve) => setImmediate(resolve));
    expect(journal.entries()[0]?.faults).toEqual([
      'latency=20ms, status=500',
      'latency=5ms, status=503, retryAfter=7',
    ]);
  });

  test.each([
    ['cut=0.5', { status: 200, body: '01234567', end: 'broken' }],
    // The head is still sent.
    ['cut=0', { status: 200, body: '', end: 'broken' }],
    ['quiet-cut=0.25', { status: 200, body: '0123', end: 'complete' }],
    ['drip=3, drip-every=1ms', { status: 200, body: '0123456789abcdef', end: 'complete' }],
    [
      'type=text/csv',
      { status: 200, body: '0123456789abcdef', headers: { 'content-type': 'text/csv' } },
    ],
    ['redirect=https://b.example/', { status: 302, headers: { location: 'https://b.example/' } }],
    ['error-body=invalid session', { status: 200, body: '{"error":"invalid session"}' }],
    ['encoding=gzip', { status: 200, headers: { 'content-encoding': 'gzip' }, end: 'complete' }],
  ])('%s changes the response, with and without a Content-Length', async (fault, expected) => {
    for (const sized of [true, false]) {
      const { request } = await serve(undefined, sized);
      expect(await request(calls, { 'x-sandbox-faults': fault })).toMatchObject(expected);
    }
  });

  test('faults apply by kind of request and by bearer token', async () => {
    const { request, book, changes } = await serve();
    book.set('tok', 'count=text, on=count; single=array, on=single');
    const headers = { authorization: 'Bearer tok' };
    await request('/v2/user/bid-management/count', headers);
    await request('/v2/user/bid-management/123', headers);
    await request('/v2/user/bid-management?rows=1', headers);
    expect(changes).toEqual([{ countAs: 'text' }, { singleAs: 'array' }, {}]);
  });

  test('a header that cannot be read gets status 400 and the wrong word', async () => {
    const { request } = await serve('never sent');
    const response = await request(calls, { 'x-sandbox-faults': 'explode' });
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body)).toMatchObject({ code: 'fault_syntax' });
    expect(response.body).toContain('explode');
  });

  test('other paths pass unchanged and are not in the journal', async () => {
    const { request, book, journal, changes } = await serve();
    book.set('*', 'reset');
    expect(await request('/healthz')).toMatchObject({ status: 200, end: 'complete' });
    expect([changes, journal.entries()]).toEqual([[undefined], []]);
  });

  test.each([
    ['rows=1&secret_key=hush', {}, 'rows=1&secret_key=***', null],
    [
      'secret%5Fkey=hush&secret_access_key=hush',
      {},
      'secret%5Fkey=***&secret_access_key=***',
      null,
    ],
    [
      'bearer_token=hush&q=talk_minutes:2&secret',
      {},
      'bearer_token=***&q=talk_minutes:2&secret',
      null,
    ],
    ['rows=1', { authorization: 'Bearer hush' }, 'rows=1', 'bearer'],
    ['access_key=A', { authorization: 'Bearer hush' }, 'access_key=A', 'A'],
  ])(
    'the journal shows of %s with the headers %j no secret',
    async (query, headers, shown, key) => {
      const { request, journal } = await serve();
      await request(`${calls}?${query}`, headers);
      while (journal.total < 1) await new Promise((resolve) => setImmediate(resolve));
      expect(journal.entries()).toEqual([expect.objectContaining({ query: shown, key })]);
      expect(JSON.stringify(journal.entries())).not.toContain('hush');
    },
  );

  test('the journal has requests and responses without secrets', async () => {
    const { request, journal } = await serve();
    await request('/ibp_api.php?action=sms.get_numbers&access_key=A&secret_access_key=hush', {
      'x-sandbox-faults': 'latency=1ms',
    });
    await request(`${calls}?rows=5`, { access_key: 'B', 'x-sandbox-faults': 'cut' });
    while (journal.total < 2) await new Promise((resolve) => setImmediate(resolve));
    const [sms, cut] = journal.entries();
    expect(sms).toEqual({
      number: 1,
      at: 1234,
      method: 'GET',
      path: '/ibp_api.php',
      key: 'A',
      status: 200,
      complete: true,
      query: 'action=sms.get_numbers&access_key=A&secret_access_key=***',
      faults: ['latency=1ms'],
    });
    expect(cut).toMatchObject({
      number: 2,
      key: 'B',
      query: 'rows=5',
      complete: false,
      faults: ['cut=0.5'],
    });
  });
});
