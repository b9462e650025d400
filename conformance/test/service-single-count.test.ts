import { fromCall } from '@call-attribution/core';
import { expect, test } from 'vitest';
import { bearer, calls, foreign, keys, openWorld } from './world.ts';

const { get } = await openWorld();
const other = await openWorld({ singleAs: 'array' });
const call = calls[5] as (typeof calls)[number];
const tracked = calls.filter(({ channel }) => channel === 'Tracker').length;

test('[R70] a record is found by its sid in both versions', async () => {
  const v3 = await get(`/v3/user/bid-management/${call.sid}`);
  expect([v3.status, v3.headers['content-type'], v3.json()]).toEqual([
    200,
    'application/json',
    fromCall(call, 'v3'),
  ]);
  expect((await get(`/v2/user/bid-management/${call.sid}`, bearer)).json()).toEqual(
    fromCall(call, 'v2'),
  );
});

test('[R71][R93] a sid that the account does not have is not found', async () => {
  for (const sid of [
    'nope',
    foreign.sid,
    '%00',
    encodeURIComponent("' OR 1=1 --"),
    `${call.sid}%20`,
  ]) {
    const response = await get(`/v3/user/bid-management/${sid}`);
    expect([sid, response.status, response.json()]).toMatchObject([
      sid,
      404,
      { code: 'unknown_record' },
    ]);
  }
});

test('[R72] a record is an object, or an array of one if the service is configured so', async () => {
  expect(await other.get(`/v3/user/bid-management/${call.sid}`).then((a) => a.json())).toEqual([
    fromCall(call, 'v3'),
  ]);
});

test('[R49] a single record takes no parameters', async () => {
  const response = await get(`/v3/user/bid-management/${call.sid}?rows=1`);
  expect([response.status, response.json()]).toMatchObject([
    400,
    { code: 'unknown_parameter', parameter: 'rows' },
  ]);
});

test('[R73] v2 counts the calls that a filter selects', async () => {
  const count = async (q: string) =>
    (await get(`/v2/user/bid-management/count${q}`, bearer)).json();
  expect(await count('')).toEqual({ count: calls.length });
  const long = calls.filter(({ talk_minutes }) => Number(talk_minutes) >= 5).length;
  expect(await count('?q=talk_minutes:[5%20TO%20*]')).toEqual({ count: long });
});

test.each([
  ['object', { count: 60 }],
  ['number', 60],
  ['text', '60'],
  ['array', [{ count: 60 }]],
  ['header', []],
] as const)(
  '[R74] the count can be given as %s, and always stands in Content-Range',
  async (countAs, body) => {
    const world = await openWorld({ countAs });
    const response = await world.get('/v2/user/bid-management/count', bearer);
    expect([response.json(), response.headers['content-range']]).toEqual([body, '*/60']);
  },
);

test('[R75] v3 does not have a count and says so', async () => {
  const response = await get('/v3/user/bid-management/count', keys);
  expect(response.status).toBe(404);
  expect(response.json()).toMatchObject({ detail: expect.stringContaining('v2 only') });
  expect((await get('/v3/user/bid-management?rows=1')).headers['content-range']).toBe(
    `1-1/${tracked}`,
  );
});
