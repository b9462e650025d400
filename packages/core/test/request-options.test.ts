import type { Client, RequestOptions } from '@call-attribution/core';
import { createManualClock } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import { collect, failure, serve } from './support.ts';

const methods: [string, (client: Client, options: RequestOptions) => Promise<unknown>][] = [
  ['listCalls', (client, options) => client.listCalls(options)],
  ['iterating over listCalls', (client, options) => collect(client.listCalls(options))],
  ['fetchPage', (client, options) => client.fetchPage(options)],
  ['getCall', (client, options) => client.getCall('S1-0000001', options)],
  ['countCalls', (client, options) => client.countCalls(options)],
  ['listSmsNumbers', (client, options) => client.listSmsNumbers(options)],
];

describe.each(methods)('options of one request: %s', (_, run) => {
  test('its headers come in addition to those of the client, or instead of them', async () => {
    const { server, client } = await serve(
      {},
      { headers: { 'X-Team': 'ads', 'x-gateway': 'one', 'x-old': '1' }, userAgent: 'report/2' },
    );
    await run(client, { headers: { 'x-team': 'sales', 'X-Trace': 'abc', 'x-old': undefined } });
    const { headers } = server.requests[0] ?? {};
    expect(headers).toMatchObject({
      'x-team': 'sales',
      'x-gateway': 'one',
      'x-trace': 'abc',
      'user-agent': 'report/2',
    });
    expect(headers).not.toHaveProperty('x-old');
    await run(client, {});
    expect(server.requests.at(-1)?.headers).toMatchObject({ 'x-team': 'ads', 'x-old': '1' });
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('x-trace');
  });

  test('its number of attempts replaces that of the client', async () => {
    const { server, client } = await serve({ faults: () => ({ status: 503 }) });
    expect(await failure(run(client, { retry: { attempts: 2 } }))).toMatchObject({ attempts: 2 });
    expect(await failure(run(client, { retry: { attempts: 1 } }))).toMatchObject({ attempts: 1 });
    expect(server.requests).toHaveLength(3);
  });

  test('a controller in place of its signal is refused', async () => {
    const { server, client } = await serve();
    const signal = new AbortController() as unknown as AbortSignal;
    expect(await failure(Promise.resolve().then(() => run(client, { signal })))).toMatchObject({
      code: 'invalid_option',
      message: 'signal must be an AbortSignal, such as controller.signal.',
    });
    expect(server.requests).toHaveLength(0);
  });

  test('its deadline replaces that of the client', async () => {
    const clock = createManualClock();
    const { server, client } = await serve({ faults: () => ({ silent: true }) }, { clock });
    const work = failure(run(client, { timeout: { total: 5_000 } }));
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(5_000);
    expect(await work).toMatchObject({
      code: 'timeout',
      limit: 'total',
      message: expect.stringContaining('5000 ms'),
    });
  });
});

test.each([
  [
    'a filter without a name',
    'talk_minutes:[2 TO *]',
    'options must be an object with filter, rows',
  ],
  ['null', null, 'options must be an object with filter, rows'],
  ['a name that there is not', { from: '2026-10-01' }, 'There is no option from.'],
  ['a misspelled name', { filtre: 'inc_gce:1' }, 'There is no option filtre. Did you mean filter?'],
])('a query that is %s is refused, and not answered with all calls', async (_, query, words) => {
  const { server, client } = await serve();
  const given = query as RequestOptions;
  const runs: (() => Promise<unknown>)[] = [
    () => collect(client.listCalls(given)),
    () => client.fetchPage(given),
    () => client.countCalls(given),
  ];
  for (const run of runs)
    expect(await failure(Promise.resolve().then(run))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(words),
    });
  expect(server.requests).toHaveLength(0);
});
