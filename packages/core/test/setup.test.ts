import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import {
  apiKeys,
  bearerToken,
  type Client,
  type ClientOptions,
  ConfigurationError,
  createClient,
  secret,
} from '@call-attribution/core';
import { fakeApi } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import { serve } from './support.ts';

const auth = apiKeys('key-one', 'key-two');
const baseUrl = 'https://api.example.com';

/** The configuration error of a construction. */
function refused(options: unknown): ConfigurationError {
  try {
    createClient(options as ClientOptions);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
  }
  throw new Error('was accepted');
}

describe('secrets', () => {
  test('secrets print as [secret] everywhere', () => {
    const hidden = secret('s3cr3t-value');
    const shown = [
      String(hidden),
      `${hidden}`,
      JSON.stringify({ hidden }),
      inspect({ hidden }, { depth: 9, showHidden: true }),
      JSON.stringify({ ...hidden }),
    ];
    expect(shown).toEqual([
      '[secret]',
      '[secret]',
      '{"hidden":"[secret]"}',
      '{ hidden: [secret] }',
      '{}',
    ]);
    expect(inspect(apiKeys('s3cr3t-a', 's3cr3t-b'))).not.toContain('s3cr3t');
    expect(structuredClone({ hidden: { ...hidden } })).toEqual({ hidden: {} });
  });
  test('spaces around a key are removed', async () => {
    const { server, client } = await serve({}, { auth: apiKeys('  key-one\n', '\tkey-two\r\n') });
    await client.listCalls();
    expect(server.requests[0]?.headers).toMatchObject({
      access_key: 'key-one',
      secret_key: 'key-two',
    });
  });
  test.each([
    ['', 'is empty', 'Is the environment variable set'],
    ['  \n', 'is empty', 'Is the environment variable set'],
    ['LEAK\nME', 'line break', 'a file or two keys may have been pasted'],
    ['LEAK ME', 'space or a control', 'without a label'],
    ['LEAK\u0000ME', 'space or a control', 'without a label'],
    ['LEAK–ME', 'outside ASCII', 'word processors and mail programs replace hyphens'],
    ['"LEAKME"', 'quotes', 'some shells and .env readers keep them'],
    [undefined, 'must be a string; found undefined', 'Is the environment variable set'],
    [null, 'found null', 'Is the environment variable set'],
  ])('%j is refused without being shown, and the hint says what to do', (value, message, hint) => {
    for (const make of [
      () => apiKeys(value as string, 'ok'),
      () => apiKeys('ok', value as string),
      () => bearerToken(value as string),
    ]) {
      expect(make).toThrow(ConfigurationError);
      expect(make).toThrow(message);
      expect(make).not.toThrow(/LEAK|ME\b/);
      expect(make).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
    }
  });
});

describe('auth', () => {
  test.each([
    ['v3' as const, auth, { access_key: 'key-one', secret_key: 'key-two' }],
    ['v3' as const, bearerToken('Bearer t0ken'), { authorization: 'Bearer t0ken' }],
    ['v2' as const, bearerToken('t0ken'), { authorization: 'Bearer t0ken' }],
  ])('%s sends the headers of its kind and no others', async (version, given, headers) => {
    const { server, client } = await serve({}, { version, auth: given });
    await client.listCalls();
    const sent = server.requests[0]?.headers ?? {};
    expect(sent).toMatchObject({ ...headers, 'content-type': 'application/json' });
    expect(
      ['authorization', 'access_key', 'secret_key'].filter((name) => name in sent).sort(),
    ).toEqual(Object.keys(headers).sort());
  });
  test('keys with v2 are refused when the client is made, and the hint says what to use', () => {
    const error = refused({ baseUrl, version: 'v2', auth });
    expect([error.code, error.hint]).toEqual([
      'invalid_credentials',
      "Use auth: bearerToken(token), or version: 'v3' with these keys.",
    ]);
  });
  test.each([
    [
      'v3' as const,
      auth,
      'access_key and secret_key. Some proxies (nginx by default) drop header names with an underscore',
    ],
    ['v3' as const, bearerToken('t'), 'others need an access key and a secret key'],
    ['v2' as const, bearerToken('t'), 'v2 expects a bearer token issued for this account'],
  ])(
    'when %s credentials are refused, the hint says which ones are expected',
    async (version, given, hint) => {
      for (const status of [401, 403]) {
        const { client } = await serve({ faults: () => ({ status }) }, { version, auth: given });
        await expect(client.listCalls()).rejects.toMatchObject({
          status,
          hint: expect.stringContaining(hint),
        });
      }
    },
  );
  test('plain objects are refused as credentials', () => {
    expect(
      refused({ baseUrl, auth: { kind: 'keys', accessKey: 'LEAK', secretKey: 'LEAK' } }).message,
    ).not.toContain('LEAK');
  });
  test('nothing is sent without credentials', async () => {
    const client = createClient({ baseUrl });
    await expect(client.listCalls()).rejects.toMatchObject({ code: 'invalid_credentials' });
  });
});

describe('options', () => {
  test.each([
    [{ baseUrl: '' }, 'baseUrl is not an absolute URL'],
    [{ baseUrl: undefined }, 'baseUrl is undefined'],
    [{ baseUrl: 'nonsense' }, 'baseUrl is not an absolute URL'],
    [{ baseUrl: 'api.example.com' }, 'baseUrl is not an absolute URL'],
    [{ baseUrl: 'ftp://api.example.com' }, 'must begin with https:// or http://'],
    [{ baseUrl: 'https://user:LEAK@api.example.com' }, 'has credentials in it'],
    [{ baseUrl: 'https://api.example.com/?access_key=LEAK' }, 'has a query'],
    [{ baseUrl: `${baseUrl}/v3`, version: 'v2' }, 'baseUrl ends in /v3, and version is v2.'],
    [{ baseUrl, legacyBaseUrl: 'nowhere' }, 'legacyBaseUrl is not an absolute URL'],
    [{ baseUrl, timeOut: {} }, 'There is no option timeOut'],
    [{ baseUrl, limiter: { requestsPerMin: 9 } }, 'There is no option limiter.requestsPerMin.'],
    [{ baseUrl, limiter: 100 }, 'limiter must be an object with concurrency, requestsPerMinute.'],
    [{ baseUrl, timeout: { attempts: 3 } }, 'There is no option timeout.attempts'],
    [{ baseUrl, timeout: { total: 0 } }, 'timeout.total is 0; expected milliseconds above 0'],
    [{ baseUrl, timeout: { idle: '5' } }, 'timeout.idle is "5"; expected milliseconds above 0'],
    [{ baseUrl, timeout: '5 s' }, 'timeout is "5 s"; expected milliseconds above 0'],
    [{ baseUrl, timeout: false }, 'timeout must be an object with connect, idle, attempt, total.'],
    [{ baseUrl, retry: { attempts: 0 } }, 'retry.attempts must be a whole number of at least 1'],
    [
      { baseUrl, retry: { atempts: 1 } },
      'There is no option retry.atempts. Did you mean retry.attempts?',
    ],
    [
      { baseUrl, retry: false },
      'retry must be an object with attempts, baseDelay, maxDelay, afterSilence.',
    ],
    [{ baseUrl, limiter: { concurrency: 1.5 } }, 'limiter.concurrency must be a whole number'],
    [{ baseUrl, userAgent: 'a\r\nb: c' }, 'headers.user-agent must be'],
    [null, 'options must be an object with baseUrl'],
    [{ baseUrl, auth: 'LEAK' }, 'auth must be made by apiKeys'],
    [
      { baseUrl, auth: null },
      'auth must be made by apiKeys(access, secret) or bearerToken(token).',
    ],
    [{ baseUrl, headers: { 'x-a': 5 } }, 'headers.x-a must be a string without line breaks'],
    [
      { baseUrl, headers: { 'x-a': 'LEAK\r\nb: c' } },
      'headers.x-a must be a string without line breaks',
    ],
    [{ baseUrl, headers: { 'LEAK: b': 'c' } }, 'a name that an HTTP header cannot have'],
    [{ baseUrl, headers: { Authorization: 'LEAK' } }, 'headers must not set Authorization.'],
    [{ baseUrl, headers: { Host: 'LEAK' } }, 'headers must not set Host.'],
  ])('%j is refused', (options, message) => {
    expect(refused(options).message).toContain(message);
    expect(refused(options).message).not.toContain('LEAK');
  });
  test('the hint for a misspelt option names the right one', () => {
    expect(refused({ baseUrl, Timeout: {} }).hint).toBe('Did you mean timeout?');
    expect(refused({ baseUrl, timeout: { atempt: 1 } }).hint).toBe('Did you mean timeout.attempt?');
    expect(refused({ baseUrl, zebra: 1 }).hint).toContain('Known options: baseUrl, legacyBaseUrl');
  });
  test('an undefined option counts as left out, and a path before the API is kept', async () => {
    const { server, client } = await serve({}, { timeout: { total: undefined as never } });
    const behind = createClient({ baseUrl: `${server.url}/gateway/`, auth });
    expect([client.baseUrl, behind.baseUrl]).toEqual([server.url, `${server.url}/gateway`]);
    await behind.listCalls();
    expect(server.requests[0]?.url).toBe('/gateway/v3/user/bid-management?rows=250');
    await behind.close();
  });
  test('a URL that ends in a version is understood', async () => {
    const { server } = await serve();
    for (const [path, given] of [
      ['/v3', auth],
      ['/v3/user/bid-management/', auth],
      ['/gateway/v2', bearerToken('t')],
    ] as const) {
      const client = createClient({ baseUrl: server.url + path, auth: given });
      await client.listCalls({ rows: 1 }).catch(() => {});
      await client.close();
    }

    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v3/user/bid-management?rows=1',
      '/v3/user/bid-management?rows=1',
      '/gateway/v2/user/bid-management?rows=1',
    ]);
  });
  test('one length of time is for all deadlines', async () => {
    const { client } = await serve({ faults: () => ({ silent: true }) }, { timeout: '100ms' });
    await expect(client.listCalls()).rejects.toMatchObject({ code: 'timeout', limit: 'total' });
  });
  test('plain http to another machine is reported', () => {
    const reports: unknown[] = [];
    createClient({
      baseUrl: 'http://api.example.com',
      auth,
      onReport: (report) => reports.push(report),
    });
    createClient({
      baseUrl: 'http://127.0.0.1:1',
      auth,
      onReport: (report) => reports.push(report),
    });
    createClient({ baseUrl: 'http://[::1]:1', auth, onReport: (report) => reports.push(report) });
    createClient({
      baseUrl: 'http://127.evil.example',
      auth,
      onReport: (report) => reports.push(report),
    });
    expect(reports).toEqual([
      { type: 'plain_http', origin: 'http://api.example.com' },
      { type: 'plain_http', origin: 'http://127.evil.example' },
    ]);
  });
  test('the user agent names the version of the manifest', async () => {
    const { server, client } = await serve();
    await client.listCalls();
    const { version } = JSON.parse(
      readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
    );
    expect(server.requests[0]?.headers['user-agent']).toBe(`call-attribution-core/${version}`);
  });
  test('await using closes a client and a server at the end of the block, and a closed client says so', async () => {
    let kept: Client | undefined;
    {
      await using server = await fakeApi().listen();
      await using client = createClient({ baseUrl: server.url, auth });
      kept = client;
      await client.listCalls();
      await client.close();
      expect(server.requests).toHaveLength(1);
    }
    await expect(kept.listCalls()).rejects.toMatchObject({ code: 'client_closed' });
  });
  test.each([
    { rows: 0 },
    { rows: 1.5 },
    { page: -1 },
    { rows: '5' as never },
    { filter: 5 as never },
    { retry: { attempts: 0 } },
    { retry: false as never },
    { timeout: { idel: 5 } as never },
    { headers: { access_key: 'LEAK' } },
  ])('the query %j is refused before it is sent', async (query) => {
    const { server, client } = await serve();
    await expect(client.listCalls(query)).rejects.toThrow();
    await expect(client.fetchPage(query)).rejects.not.toThrow('LEAK');
    expect(server.requests).toEqual([]);
  });
});
