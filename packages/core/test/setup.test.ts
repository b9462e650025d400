import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import {
  apiKeys,
  bearerToken,
  type ClientOptions,
  ConfigurationError,
  createClient,
  secret,
} from '@call-attribution/core';
import { faults } from '@call-attribution/core/testing';
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
    expect(shown).toEqual(['[secret]', '[secret]', '{"hidden":"[secret]"}', '{ hidden: [secret] }', '{}']);
    expect(inspect(apiKeys('s3cr3t-a', 's3cr3t-b'))).not.toContain('s3cr3t');
    expect(structuredClone({ hidden: { ...hidden } })).toEqual({ hidden: {} });
  });
  test('spaces around a key are removed', async () => {
    const { server, client } = await serve({}, { auth: apiKeys('  key-one\n', '\tkey-two\r\n') });
    await client.listCalls();
    expect(server.requests[0]?.headers).toMatchObject({ access_key: 'key-one', secret_key: 'key-two' });
  });
  test.each([
    ['', 'is empty', 'Is the environment variable set'],
    ['  \n', 'is empty', 'Is the environment variable set'],
    ['LEAK\nME', 'line break', 'a file or two keys may have been pasted'],
    ['LEAK ME', 'space or a control', 'without a label'],
    ['LEAK\u0000ME', 'space or a control', 'without a label'],
    ['LEAK–ME', 'outside ASCII', 'word processors and mail programs replace hyphens'],
    ['"LEAKME"', 'quotes', 'some shells and .env readers keep them'],
    [undefined, 'missing: undefined was passed', 'Is the environment variable set'],
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
    expect(sent).toMatchObject(headers);
    expect(['authorization', 'access_key', 'secret_key'].filter((name) => name in sent).sort()).toEqual(
      Object.keys(headers).sort(),
    );
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
    ['v3' as const, bearerToken('t'), 'others need auth: apiKeys(access, secret)'],
    ['v2' as const, bearerToken('t'), 'v2 expects a bearer token issued for this account'],
  ])(
    'when %s credentials are refused, the hint says which ones are expected',
    async (version, given, hint) => {
      for (const status of [401, 403]) {
        const { client } = await serve({ fault: () => faults.status(status) }, { version, auth: given });
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
    [{ baseUrl: '' }, 'baseUrl is missing'],
    [{ baseUrl: undefined }, 'baseUrl is undefined'],
    [{ baseUrl: 'api.example.com' }, 'baseUrl is not an absolute URL'],
    [{ baseUrl: 'ftp://api.example.com' }, 'must begin with https:// or http://'],
    [{ baseUrl: 'https://user:LEAK@api.example.com' }, 'has credentials in it'],
    [{ baseUrl: 'https://api.example.com/?access_key=LEAK' }, 'has a query'],
    [{ baseUrl: 'https://api.example.com/v3/user/bid-management' }, 'already names the version'],
    [{ baseUrl, legacyBaseUrl: 'nowhere' }, 'legacyBaseUrl is not an absolute URL'],
    [{ baseUrl, version: 'v4' }, "version must be 'v2' or 'v3'"],
    [{ baseUrl, timeOut: {} }, 'There is no option timeOut'],
    [{ baseUrl, timeout: { attempts: 3 } }, 'There is no option timeout.attempts'],
    [{ baseUrl, timeout: { total: 0 } }, 'timeout.total must be milliseconds above 0'],
    [{ baseUrl, timeout: { idle: '5' } }, 'timeout.idle must be milliseconds above 0'],
    [{ baseUrl, retry: { attempts: 0 } }, 'retry.attempts must be a whole number of at least 1'],
    [{ baseUrl, limiter: { concurrency: 1.5 } }, 'limiter.concurrency must be a whole number'],
    [{ baseUrl, limiter: { rpm: 5 } }, 'There is no option limiter.rpm'],
    [{ baseUrl, maxBodyBytes: -1 }, 'maxBodyBytes must be a whole number'],
    [{ baseUrl, records: 'loose' }, "records must be 'strict', 'report' or 'off'"],
    [{ baseUrl, userAgent: 'a\r\nb: c' }, 'userAgent must be'],
    [null, 'options must be an object; got null.'],
    [{ baseUrl: 5 }, 'baseUrl must be a URL as a string; got 5.'],
    [{ baseUrl, timeout: 5 }, 'timeout must be an object with connect, idle, attempt, total; got 5.'],
    [{ baseUrl, timeout: { total: '5 s' } }, 'Infinity; got "5 s".'],
    [
      { baseUrl, retry: 3 },
      'retry must be an object with attempts, baseDelay, maxDelay, afterSilence; got 3.',
    ],
    [{ baseUrl, limiter: 3 }, 'limiter must be limits such as { concurrency: 4 }'],
    [{ baseUrl, retry: { afterSilence: 'yes' } }, 'retry.afterSilence must be true or false; got a string.'],
    [{ baseUrl, auth: 'LEAK' }, 'auth must be made by apiKeys'],
    [
      { baseUrl, auth: null },
      'auth must be made by apiKeys(access, secret) or bearerToken(token); got null.',
    ],
    [{ baseUrl, dispatcher: {} }, 'dispatcher must be a dispatcher of undici; got an object.'],
    [{ baseUrl, compress: 'no' }, 'compress must be true or false; got a string.'],
    [{ baseUrl, onReport: true }, 'onReport must be a function; got true.'],
    [{ baseUrl, clock: Date }, 'clock must be a clock with now() and timer(); got a function.'],
    [{ baseUrl, version: 'LEAK-LEAK-LEAK-LEAK-LEAK' }, "version must be 'v2' or 'v3'; got a string."],
    [
      { baseUrl, headers: new Headers({ a: 'LEAK' }) },
      'headers must be an object; got an object of type Headers.',
    ],
    [{ baseUrl, headers: { 'x-a': 5 } }, 'headers.x-a must be a string without line breaks'],
    [{ baseUrl, headers: { 'x-a': 'LEAK\r\nb: c' } }, 'headers.x-a must be a string without line breaks'],
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
  test('plain http to another machine is reported', () => {
    const reports: unknown[] = [];
    createClient({ baseUrl: 'http://api.example.com', auth, onReport: (report) => reports.push(report) });
    createClient({ baseUrl: 'http://127.0.0.1:1', auth, onReport: (report) => reports.push(report) });
    createClient({ baseUrl: 'http://[::1]:1', auth, onReport: (report) => reports.push(report) });
    createClient({ baseUrl: 'http://127.evil.example', auth, onReport: (report) => reports.push(report) });
    expect(reports).toEqual([
      { type: 'plain_http', origin: 'http://api.example.com' },
      { type: 'plain_http', origin: 'http://127.evil.example' },
    ]);
  });
  test('the user agent names the version of the manifest', async () => {
    const { server, client } = await serve();
    await client.listCalls();
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    expect(server.requests[0]?.headers['user-agent']).toBe(`call-attribution-core/${version}`);
  });
  test('a closed client says so', async () => {
    const { client } = await serve();
    await client.listCalls();
    await client.close();
    await expect(client.listCalls()).rejects.toMatchObject({ code: 'client_closed' });
  });
  test.each([
    { rows: 0 },
    { rows: 1.5 },
    { page: -1 },
    { rows: '5' as never },
    { row: 5 } as never,
    { start: 5 } as never,
    { filter: 5 as never },
    { signal: {} as never },
    { timeout: { connect: 5 } as never },
    { retry: { attempts: 0 } },
    { headers: { access_key: 'LEAK' } },
  ])('the query %j is refused before it is sent', async (query) => {
    const { server, client } = await serve();
    await expect(client.listCalls(query)).rejects.toThrow(ConfigurationError);
    await expect(client.fetchPage(query)).rejects.not.toThrow('LEAK');
    expect(server.requests).toEqual([]);
  });
});

test('unknown options of a request are refused, and the hint names the right one', async () => {
  const { server, client } = await serve();
  const wrong = { sginal: undefined } as never;
  for (const work of [
    client.listCalls(wrong),
    client.fetchPage(wrong),
    client.getCall('S1-0000001', wrong),
    client.countCalls(wrong),
    client.listSmsNumbers(wrong),
  ])
    await expect(work).rejects.toMatchObject({
      code: 'invalid_option',
      message: 'There is no option sginal. Did you mean signal?',
      hint: 'Did you mean signal?',
    });
  expect(server.requests).toEqual([]);
});
