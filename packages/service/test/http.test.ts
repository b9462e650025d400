import { makeCalls } from '@call-attribution/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService, type Listening, openStore, type Service, type Store } from '../src/index.ts';

const keys = { access_key: 'ak-1', secret_key: 'sk-1' };
const bearer = { authorization: 'Bearer tok-1' };
const calls = makeCalls(250);
let store: Store;
let service: Service;
let at: Listening;

beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  service = createService({
    store,
    accounts: [
      { id: '101', name: 'One', accessKey: 'ak-1', secretKey: 'sk-1', bearerToken: 'tok-1' },
      { id: '102', name: 'Two', accessKey: 'ak-2', secretKey: 'sk-2', bearerToken: 'tok-2' },
    ],
  });
  at = await service.listen();
  await store.load('101', calls);
});
afterAll(async () => {
  await service.close();
  await store.close();
});

const get = (path: string, headers: Record<string, string> = keys) => fetch(at.url + path, { headers });
const list = '/v3/user/bid-management';

describe('a list', () => {
  test('gives v3 records with a range that counts from 1', async () => {
    const answer = await get(`${list}?rows=2&start=1&q=inc_gce:1`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-range')).toBe('3-4/250');
    const records = (await answer.json()) as { sid: string }[];
    expect(records.map(({ sid }) => sid)).toEqual([calls[2]?.sid, calls[3]?.sid]);
  });

  test('leaves call extensions out of v3 and keeps them in v2', async () => {
    const tracked = calls.filter(({ channel }) => channel === 'Tracker').length;
    expect((await get(`${list}?rows=1`)).headers.get('content-range')).toBe(`1-1/${tracked}`);
    const v2 = await get('/v2/user/bid-management?rows=1', bearer);
    expect(v2.headers.get('content-range')).toBe('1-1/250');
  });
});

test('a record, a count, an SMS listing and a refusal each have their form', async () => {
  expect(await (await get(`${list}/${calls[0]?.sid}`)).json()).toMatchObject({ sid: calls[0]?.sid });
  expect(await (await get('/v2/user/bid-management/count', bearer)).json()).toEqual({ count: 250 });
  await store.putSmsNumbers('101', [
    { number: '5555550100', smsEnabled: '1', url: 'https://example.com/?a=1&b=2' },
  ]);
  const sms = await fetch(
    `${at.legacyUrl}/ibp_api.php?action=sms.get_numbers&access_key=ak-1&secret_access_key=sk-1`,
  );
  expect(await sms.text()).toContain(
    '<number sms_enabled="1" url="https://example.com/?a=1&amp;b=2">5555550100</number>',
  );
  const refusal = await get(`${list}?q=date_added:[oops`);
  expect(refusal.status).toBe(400);
  expect(await refusal.json()).toMatchObject({
    code: 'invalid_filter',
    parameter: 'q',
    pointer: { start: expect.any(Number) },
  });
});
