import { describe, expect, test } from 'vitest';
import { raw } from './raw.ts';
import { bearer, calls, keys, openWorld, sidsOf } from './world.ts';

const { url, get } = await openWorld();
const clamping = await openWorld({ maxRows: 10, rowsOver: 'clamp' });
const list = '/v3/user/bid-management';
const all = 'q=inc_gce:1';
const problem = (code: string, parameter: string) => ({ status: 400, body: { code, parameter } });
const refused = async (path: string) => {
  const response = await get(path);
  return { status: response.status, body: response.json() };
};

describe('a list', () => {
  test('[R01][R47] is a JSON array of objects, whether or not Content-Type is sent', async () => {
    for (const extra of [{}, { 'Content-Type': 'application/json' }]) {
      const response = await get(list, { ...keys, ...extra });
      expect(response.status).toBe(200);
      expect(response.headers['content-type']).toBe('application/json');
      expect(response.json()).toEqual(
        expect.arrayContaining([expect.objectContaining({ sid: expect.any(String) })]),
      );
    }
  });

  test('[R40][R100] is at one path in each version, and nowhere else', async () => {
    expect((await get(list)).status).toBe(200);
    expect((await get('/v2/user/bid-management', bearer)).status).toBe(200);
    for (const path of [
      '/user/bid-management',
      '/v1/user/bid-management',
      '/v4/user/bid-management',
      `${list}/`,
      '/V3/user/bid-management',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
  });

  test('[R41][R60] needs no parameter', async () => {
    const response = await get('/v2/user/bid-management', bearer);
    expect(sidsOf(response.json())).toEqual(calls.map(({ sid }) => sid));
  });

  test('[R42][R43][R45] returns rows records of page start, counted from 1 in Content-Range', async () => {
    const response = await get(`${list}?${all}&rows=2&start=1`);
    expect(response.headers['content-range']).toBe('3-4/60');
    expect(sidsOf(response.json())).toEqual([calls[2]?.sid, calls[3]?.sid]);
    const last = await get(`${list}?${all}&rows=7&start=8`);
    expect([last.headers['content-range'], sidsOf(last.json()).length]).toEqual(['57-60/60', 4]);
  });

  test('[R03] returns every call exactly once over its pages', async () => {
    const found: string[] = [];
    for (let start = 0; start * 13 < 60; start += 1)
      found.push(...sidsOf((await get(`${list}?${all}&rows=13&start=${start}`)).json()));
    expect(found).toEqual(calls.map(({ sid }) => sid));
  });

  test('[R46] reports */0 when nothing matches', async () => {
    const response = await get(
      `${list}?q=date_added:[1999-01-01%2000:00:00%20TO%201999-01-02%2000:00:00]`,
    );
    expect([response.status, response.headers['content-range'], response.body]).toEqual([
      200,
      '*/0',
      '[]',
    ]);
  });

  test('[R98] starts at page 0, and returns no records but the total for a page past the end', async () => {
    expect((await get(`${list}?${all}&rows=5`)).headers['content-range']).toBe('1-5/60');
    const past = await get(`${list}?${all}&rows=5&start=12`);
    expect([past.status, past.headers['content-range'], past.body]).toEqual([200, '*/60', '[]']);
    const far = await get(`${list}?${all}&rows=5&start=900000000000000`);
    expect([far.status, far.headers['content-range']]).toEqual([200, '*/60']);
    expect(await refused(`${list}?start=-1`)).toMatchObject(
      problem('parameter_out_of_range', 'start'),
    );
    expect(await refused(`${list}?start=99999999999999999999`)).toMatchObject(
      problem('parameter_out_of_range', 'start'),
    );
  });

  test('[R97] returns 100 rows by default and refuses more than 1,000', async () => {
    expect(await refused(`${list}?rows=1001`)).toMatchObject(
      problem('parameter_out_of_range', 'rows'),
    );
    expect((await get(`${list}?rows=1000`)).status).toBe(200);
    expect(await refused(`${list}?rows=0`)).toMatchObject(
      problem('parameter_out_of_range', 'rows'),
    );
  });

  test('[R97] returns fewer rows instead if the service is configured so', async () => {
    const response = await clamping.get(`${list}?${all}&rows=500&start=1`);
    expect(response.headers['content-range']).toBe('11-20/60');
  });

  test('[R44] refuses a body', async () => {
    const response = await raw(url, list, {
      headers: { ...keys, 'Content-Length': '2' },
      body: '{}',
    });
    expect([response.status, response.json()]).toMatchObject([400, { code: 'unexpected_body' }]);
    expect((await get(list, { ...keys, 'Content-Length': '0' })).status).toBe(200);
  });

  test('[R48] is ordered by date_added, then sid', async () => {
    const records = (await get(`${list}?${all}`)).json() as { date_added: string; sid: string }[];
    const order = records.map(({ date_added, sid }) => `${date_added} ${sid}`);
    expect(order).toEqual(order.toSorted());
  });

  test.each([
    ['rows=abc', 'malformed_parameter', 'rows'],
    ['rows=', 'malformed_parameter', 'rows'],
    ['rows=1.5', 'malformed_parameter', 'rows'],
    ['rows=%2B5', 'malformed_parameter', 'rows'],
    ['rows=05', 'malformed_parameter', 'rows'],
    ['start=1e3', 'malformed_parameter', 'start'],
    ['rows=1&rows=1', 'repeated_parameter', 'rows'],
    ['q=&q=', 'repeated_parameter', 'q'],
    ['row=5', 'unknown_parameter', 'row'],
    ['ROWS=5', 'unknown_parameter', 'ROWS'],
    ['q=%E0%A4%A', 'malformed_encoding', 'q'],
  ])('[R49] refuses %s and names the parameter', async (query, code, parameter) => {
    expect(await refused(`${list}?${query}`)).toMatchObject(problem(code, parameter));
  });

  test('[R99] is compressed only on request', async () => {
    expect((await get(`${list}?${all}`)).headers['content-encoding']).toBeUndefined();
    for (const [asked, sent] of [
      ['gzip', 'gzip'],
      ['gzip, br', 'gzip'],
      ['br', undefined],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['identity', undefined],
    ] as const) {
      const { headers } = await get(`${list}?${all}`, { ...keys, 'Accept-Encoding': asked });
      expect([asked, headers['content-encoding'], headers.vary]).toEqual([
        asked,
        sent,
        'Accept-Encoding',
      ]);
    }
  });
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  '[R04][R05] %s is refused with 405 and Allow',
  async (method) => {
    for (const path of [list, `${list}/${calls[0]?.sid}`]) {
      const response = await raw(url, path, { method, headers: keys });
      expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD']);
      expect(response.json()).toMatchObject({ code: 'method_not_allowed' });
    }
  },
);

test('[R05] HEAD returns the headers of GET and no body', async () => {
  const head = await raw(url, `${list}?rows=3&${all}`, { method: 'HEAD', headers: keys });
  const full = await get(`${list}?rows=3&${all}`);
  expect([head.status, head.body]).toEqual([200, '']);
  for (const name of ['content-range', 'content-length', 'content-type'])
    expect(head.headers[name]).toBe(full.headers[name]);
});
