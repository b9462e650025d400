import { bearerToken, CallsError, type Client, type ResponseInfo } from '@call-attribution/core';
import { type Fault, faults, fixtureCalls } from '@call-attribution/core/testing';
import { where } from '@call-attribution/query-dsl';
import { describe, expect, test } from 'vitest';
import { failure, fixtureWireCalls, serve } from './support.ts';

const json = (value: unknown, headers = {}): Fault =>
  faults.replace(200, JSON.stringify(value), headers);

type Told = (response: ResponseInfo) => void;

test('a number that is nested too deep is not taken for a count', async () => {
  const { server, client } = await serve({}, { version: 'v2', auth: bearerToken('token') });
  server.next(faults.replace(200, `${'{"count":'.repeat(20_000)}1${'}'.repeat(20_000)}`));
  expect(await failure(client.countCalls())).toMatchObject({ code: 'unexpected_shape' });
});

test.each([
  ['getCall', (client: Client, onResponse: Told) => client.getCall('S1-0000001', { onResponse })],
  ['countCalls', (client: Client, onResponse: Told) => client.countCalls({ onResponse })],
  ['listCalls', (client: Client, onResponse: Told) => client.listCalls({ onResponse })],
  ['listSmsNumbers', (client: Client, onResponse: Told) => client.listSmsNumbers({ onResponse })],
] as const)(
  '%s tells status, headers and attempts of the answer behind its result',
  async (_, ask) => {
    const { server, client } = await serve();
    server.next({ status: 503 });
    const responses: ResponseInfo[] = [];
    await ask(client, (response) => responses.push(response));
    expect(responses).toMatchObject([{ status: 200, attempts: 2 }]);
    expect(responses[0]?.headers).toHaveProperty('content-type');
  },
);

test.each([
  [{ filters: 'inc_gce:1' }, 'There is no option filters. Did you mean filter?'],
  ['inc_gce:1', 'options must be an object with filter, rows'],
  [null, 'options must be an object with filter, rows'],
])('a query %j is refused: it would be one for all calls', async (query, message) => {
  const { client, server } = await serve();
  const wrong = query as unknown as { filter: string };
  for (const ask of [client.listCalls, client.countCalls, client.fetchPage])
    await expect(Promise.resolve(ask(wrong))).rejects.toThrow(message);
  expect(server.requests).toHaveLength(0);
});

describe('getCall', () => {
  const [record] = fixtureWireCalls(1, 'v3');
  const [call] = fixtureCalls(1);

  test.each([
    ['an object', record],
    ['an array of one', [record]],
  ])('it understands %s', async (_, value) => {
    const { server, client } = await serve();
    server.next(json(value));
    expect(await client.getCall('S1-0000001')).toEqual(call);
  });

  test.each([
    ['404', { status: 404 }],
    ['an empty array', json([])],
    ['null', json(null)],
  ])('%s is not_found', async (_, fault) => {
    const { server, client } = await serve();
    server.next(fault);
    await expect(client.getCall('S1-0000001')).rejects.toMatchObject({
      code: 'not_found',
      isRetryable: false,
      attempts: 1,
    });
  });

  test.each([
    ['an error with status 200', json({ error: 'no' }), 'error_body', 1],
    ['an array of two', json([record, record]), 'unexpected_shape', 1],
    ['a text', json('S1-0000001'), 'unexpected_shape', 1],
    ['an object without sid', json({ id: 1 }), 'unexpected_shape', 1],
    ['another call, each time', json({ ...record, sid: 'other' }), 'unexpected_shape', 4],
  ] as const)('%s is %s', async (_, fault, code, attempts) => {
    const { client } = await serve({ faults: () => fault });
    await expect(client.getCall('S1-0000001')).rejects.toMatchObject({ code, attempts });
  });

  test.each([
    ['a/b?c#d', '/v3/user/bid-management/a%2Fb%3Fc%23d'],
    ['1 2+3', '/v3/user/bid-management/1%202%2B3'],
    ['é', '/v3/user/bid-management/%C3%A9'],
    ['\ud800', '/v3/user/bid-management/%EF%BF%BD'],
    ['%2e%2e', '/v3/user/bid-management/%252e%252e'],
  ])('it encodes the sid %j', async (sid, url) => {
    const { server, client } = await serve();
    expect(await failure(client.getCall(sid))).toBeInstanceOf(CallsError);
    expect(server.requests[0]?.url).toBe(url);
  });

  test.each(['', '  ', '.', '..', undefined, 5])(
    'it refuses the sid %j before it is sent',
    async (sid) => {
      const { server, client } = await serve();
      await expect(client.getCall(sid as string)).rejects.toMatchObject({ code: 'invalid_option' });
      expect(server.requests).toEqual([]);
    },
  );

  test('in v2, the path of the count request is refused as a sid', async () => {
    const { client } = await serve({}, { version: 'v2', auth: bearerToken('t') });
    await expect(client.getCall('count')).rejects.toMatchObject({ code: 'invalid_option' });
  });
});

describe('countCalls', () => {
  const v2 = { version: 'v2', auth: bearerToken('t0ken') } as const;
  const text = (body: string): Fault => faults.replace(200, body, { 'content-type': 'text/plain' });

  test.each([
    ['a number', json(18)],
    ['a text', json('18')],
    ['plain text', text(' 18\n')],
    ['an object', json({ count: 18 })],
    ['an object with text', json({ total: '18' })],
    ['an object with more in it', json({ status: 'ok', Count: 18, took: 3 })],
    ['an object in an object', json({ result: { count: 18 } })],
    ['an array of an object', json([{ count: '18' }])],
    ['an array of a number', json([18])],
  ])('a v2 client understands %s', async (_, fault) => {
    const { server, client } = await serve({}, v2);
    server.next(fault);
    expect(await client.countCalls()).toEqual({ total: 18, source: 'count' });
    expect(server.requests[0]?.url).toBe('/v2/user/bid-management/count');
  });

  test.each([
    ['an empty array', '[]'],
    ['an empty body', ''],
    ['an object without a number', '{"status":"ok"}'],
  ])('a v2 client takes the total from Content-Range with %s', async (_, body) => {
    const { server, client } = await serve({}, v2);
    server.next(faults.replace(200, body, { 'content-range': '1-1/18' }));
    expect(await client.countCalls()).toEqual({ total: 18, source: 'content-range' });
  });

  test.each([
    ['nothing that counts', json({ status: 'ok' }), 'unexpected_shape'],
    ['a negative number', json(-1), 'unexpected_shape'],
    ['half a call', json(1.5), 'unexpected_shape'],
    ['an error', json({ error: 'no' }), 'error_body'],
    ['401', { status: 401 }, 'unauthorized'],
  ])('for a v2 client, %s is an error', async (_, fault, code) => {
    const { client } = await serve({ faults: () => fault }, v2);
    await expect(client.countCalls()).rejects.toMatchObject({ code });
  });

  test('a v2 client counts with a list of one row when there is no count request', async () => {
    const { server, client } = await serve({}, v2);
    server.next({ status: 404 });
    expect(await client.countCalls()).toEqual({ total: 20, source: 'content-range' });
    expect(server.requests[1]?.url).toBe('/v2/user/bid-management?rows=1');
  });

  test('a v3 client counts with a list of one row, with the filter', async () => {
    const { server, client } = await serve();
    const filter = where('talk_minutes').atLeast('10');
    const expected = server.calls.filter((call) => Number(call.talk_minutes) >= 10).length;
    expect(await client.countCalls({ filter })).toEqual({
      total: expected,
      source: 'content-range',
    });
    expect(server.requests[0]?.url).toBe(
      '/v3/user/bid-management?q=talk_minutes%3A%5B10%20TO%20*%5D&rows=1',
    );
  });

  test('a v3 client counts an empty list as 0, and says when there is no total', async () => {
    const { server, client } = await serve();
    server.next(faults.replace(200, '[]', { 'content-range': '*/0' }), { range: 'none' });
    expect(await client.countCalls()).toEqual({ total: 0, source: 'content-range' });
    await expect(client.countCalls()).rejects.toMatchObject({ code: 'unexpected_shape' });
  });
});

describe('filters', () => {
  test.each([
    ['text', 'date_added:[2024-01-01 00:00:00 TO 2024-02-01 00:00:00}'],
    ['a builder', where('date_added').from('2024-01-01 00:00:00').before('2024-02-01 00:00:00')],
    [
      'a filter',
      where('date_added').from('2024-01-01 00:00:00').before('2024-02-01 00:00:00').toFilter(),
    ],
  ])('filters as %s are sent encoded, with %%20', async (_, filter) => {
    const { server, client } = await serve();
    await client.listCalls({ filter });
    expect(server.requests[0]?.url).toBe(
      '/v3/user/bid-management?q=date_added%3A%5B2024-01-01%2000%3A00%3A00%20TO%202024-02-01%2000%3A00%3A00%7D&rows=250',
    );
  });
  test.each(['', '   '])('with the filter %j, q is left out', async (filter) => {
    const { server, client } = await serve();
    await client.listCalls({ filter });
    expect(server.requests[0]?.query.has('q')).toBe(false);
  });
  test('a string that is not a filter is refused with the position of the mistake, and nothing is sent', async () => {
    const { server, client } = await serve();
    const error = await failure(client.listCalls({ filter: 'date_added:[2024-01-01 00:00:00 TO' }));
    expect(error).toMatchObject({ name: 'FilterSyntaxError' });
    expect(server.requests).toEqual([]);
  });
  test('inc_gce is for v3 only', async () => {
    const { client } = await serve({}, { version: 'v2', auth: bearerToken('t') });
    expect(await failure(client.listCalls({ filter: 'inc_gce:1' }))).toMatchObject({
      name: 'FilterSyntaxError',
    });
  });
  test.each([
    [
      'a misspelled field',
      'talk_minuts:[1 TO *]',
      'There is no field "talk_minuts" to filter by. Did you mean "talk_minutes"?',
    ],
    [
      'a field that it does not know, without a range,',
      'campaign:Brand',
      'Expected "date_added", "talk_minutes" or "inc_gce" at position 0, found "campaign".',
    ],
    [
      'such a field with a range that is not closed',
      'talk_minutes:[1 TO *],novelty:[1 TO 2',
      'found "novelty"',
    ],
    [
      'a range without a bound',
      where('talk_minutes') as unknown as string,
      "where('talk_minutes') has no bound yet.",
    ],
  ])('%s is refused, and nothing is sent', async (_, filter, message) => {
    const { server, client } = await serve();
    const error = await failure(client.listCalls({ filter }));
    expect(String(error)).toContain(message);
    expect(server.requests).toEqual([]);
  });
  test('a filter on an unknown field is left for the server to judge', async () => {
    const { server, client } = await serve();
    server.next({ status: 400 });
    await expect(client.listCalls({ filter: 'novelty:[1 TO 2]' })).rejects.toMatchObject({
      code: 'bad_request',
    });
    expect(server.requests[0]?.query.get('q')).toBe('novelty:[1 TO 2]');
  });
});
