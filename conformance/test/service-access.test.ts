import { testKeys } from '@call-attribution/sandbox';
import { describe, expect, test } from 'vitest';
import { send } from './raw.ts';
import { bearer, foreign, keys, openWorld, sidsOf } from './world.ts';

const entries: unknown[] = [];
const { url, get } = await openWorld({ log: (entry) => entries.push(entry) });
const limited = await openWorld({ rateLimit: { requests: 2, per: '60s' } });
const v2 = '/v2/user/bid-management';
const v3 = '/v3/user/bid-management';
const without = (name: 'access_key' | 'secret_key') =>
  Object.fromEntries(Object.entries(keys).filter(([key]) => key !== name));

describe('access', () => {
  test('[R90] v3 accepts both key headers together, and refuses one alone', async () => {
    expect((await get(v3, keys)).status).toBe(200);
    for (const name of ['access_key', 'secret_key'] as const) {
      const response = await get(v3, without(name));
      expect([response.status, response.json()]).toMatchObject([
        401,
        { code: 'missing_credentials', detail: expect.stringContaining(name) },
      ]);
    }
  });

  test('[R91] v3 accepts a bearer token as well', async () => {
    expect((await get(v3, bearer)).status).toBe(200);
  });

  test('[R92] v2 accepts only a bearer token', async () => {
    expect((await get(v2, bearer)).status).toBe(200);
    const response = await get(v2, keys);
    expect([response.status, response.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });

  test('[R93] each account sees its own records', async () => {
    const { accessKey, secretKey } = testKeys('102');
    const response = await get(`${v3}?q=inc_gce:1`, {
      access_key: accessKey,
      secret_key: secretKey,
    });
    expect(sidsOf(response.json())).toEqual([foreign.sid]);
  });

  test.each([
    ['a wrong secret', { ...keys, secret_key: 'wrong' }, 401, 'invalid_credentials'],
    [
      'another account’s secret',
      { ...keys, secret_key: testKeys('102').secretKey },
      401,
      'invalid_credentials',
    ],
    ['an unknown token', { authorization: 'Bearer nope' }, 401, 'invalid_credentials'],
    ['another scheme', { authorization: 'Basic abc' }, 401, 'malformed_authorization'],
    ['nothing', {}, 401, 'missing_credentials'],
    ['two kinds at once', { ...keys, ...bearer }, 400, 'two_credentials'],
  ])('[R95] %s is refused', async (_, headers, status, code) => {
    const response = await get(v3, headers as Record<string, string>);
    expect([response.status, response.headers['content-type'], response.json()]).toMatchObject([
      status,
      'application/problem+json',
      { code, status },
    ]);
  });

  test('[R95] a user and a password are told from keys', async () => {
    const { body } = await get(v3, { authorization: 'Basic abc' });
    expect(body).toMatch(/has a user and a password \(.*Basic.*\).*access_key and secret_key/);
  });

  test('[R94] no response and no log line contains a key', async () => {
    const secrets = Object.values(testKeys('101'));
    const responses = [
      await get(`${v3}?rows=1`),
      await get(`${v3}?access_key=${secrets[0]}&rows=1`),
      await get(v3, { ...keys, secret_key: `${secrets[1]}x` }),
      await get(
        `/ibp_api.php?action=nope&access_key=${secrets[0]}&secret_access_key=${secrets[1]}`,
      ),
    ];
    const seen = JSON.stringify([responses.map((a) => [a.body, a.headers]), entries]);
    expect(entries.length).toBeGreaterThan(3);
    for (const secret of secrets) expect(seen).not.toContain(secret);
  });

  test('[R96] requests are not limited unless a limit is set; then 429 with Retry-After, per key', async () => {
    const seen = [];
    for (let i = 0; i < 3; i += 1) seen.push(await limited.get(`${v3}?rows=1`));
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(seen[1]?.headers.ratelimit).toMatch(/^"key";r=0;t=\d+$/);
    expect(seen[2]?.headers['retry-after']).toMatch(/^\d+$/);
    expect(seen[2]?.json()).toMatchObject({ code: 'too_many_requests' });
    expect((await limited.get(`${v3}?rows=1`, bearer)).status).toBe(200);
    expect((await get(v3)).headers.ratelimit).toBeUndefined();
  });
});

describe('a request that is too long or not HTTP', () => {
  test('[R95] gets 414 for its URL and 431 for its headers', async () => {
    const long = await get(`${v3}?q=${'a'.repeat(9_000)}`);
    expect([long.status, long.json()]).toMatchObject([414, { code: 'url_too_long' }]);
    const heavy = await get(v3, { ...keys, 'X-Long': 'a'.repeat(40_000) });
    expect(heavy.status).toBe(431);
  });

  test('[R95] gets 400 when it cannot be read', async () => {
    expect((await send(url, 'what?\r\n\r\n')).status).toBe(400);
    const strange = await get(v3, { ...keys, Host: 'a b' });
    expect([strange.status, strange.json()]).toMatchObject([400, { code: 'malformed_url' }]);
  });

  test('[R95] gets 404 with a hint for an unknown path', async () => {
    const response = await get('/v3/user/bids');
    expect([response.status, response.json()]).toMatchObject([
      404,
      { code: 'unknown_path', detail: expect.stringContaining('/v3/user/bid-management') },
    ]);
  });
});
