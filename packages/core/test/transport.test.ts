import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import {
  apiKeys,
  type ClientOptions,
  ConfigurationError,
  createClient,
  type RequestDispatcher,
} from '@call-attribution/core';
import { fakeApi } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import { afterwards, failure, serve } from './support.ts';

/** A client whose server, keys and proxies come from these variables. */
const clientOf = (env: Record<string, string>, options: ClientOptions = {}) =>
  createClient({
    env: {
      CALLS_BASE_URL: 'https://api.example.com',
      CALLS_ACCESS_KEY: 'a',
      CALLS_SECRET_KEY: 'b',
      ...env,
    },
    retry: { attempts: 1 },
    ...options,
  });

/** A proxy for plain http that wants the user "me" with the password "p@ss#LEAK". */
async function startProxy() {
  const targets: string[] = [];
  const server = createServer((incoming, response) => {
    targets.push(String(incoming.url));
    const { 'proxy-authorization': given, ...headers } = incoming.headers;
    if (given !== `Basic ${Buffer.from('me:p@ss#LEAK').toString('base64')}`)
      return void response.writeHead(407).end();
    request(String(incoming.url), { method: incoming.method ?? 'GET', headers }, (found) => {
      response.writeHead(found.statusCode ?? 500, found.headers);
      found.pipe(response);
    }).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  afterwards(() => server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, targets };
}

describe('proxies of the environment', () => {
  test.each([
    [
      { HTTPS_PROXY: 'socks5://me:LEAK@proxy:1080' },
      'HTTPS_PROXY must begin with http:// or https://.',
    ],
    [{ https_proxy: 'http://me:LEAK with spaces@:' }, 'HTTPS_PROXY is not a URL.'],
    [
      { HTTPS_PROXY: 'http://me:1#LEAK@proxy' },
      'HTTPS_PROXY has more than scheme, credentials, host and port.',
    ],
    [
      { HTTPS_PROXY: 'http://me:%LEAK@proxy' },
      'HTTPS_PROXY has more than scheme, credentials, host and port.',
    ],
    [
      { CALLS_BASE_URL: 'http://api.example.com', HTTP_PROXY: 'ftp://LEAK' },
      'HTTP_PROXY must begin with',
    ],
  ])('%j is refused when the client is made', (env, message) => {
    let error: unknown;
    try {
      clientOf(env as Record<string, string>);
    } catch (thrown) {
      error = thrown;
    }

    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toContain(message);
    expect(inspect(error)).not.toContain('LEAK');
  });

  test.each([
    ['NO_PROXY', '*'],
    ['no_proxy', 'api.example.com'],
    ['NO_PROXY', 'localhost, .example.com'],
    ['NO_PROXY', 'localhost *.example.com'],
    ['NO_PROXY', 'EXAMPLE.com'],
    ['NO_PROXY', 'api.example.com:443'],
    ['https_proxy', ''],
  ])('%s=%s needs no proxy', (name, value) => {
    expect(() => clientOf({ HTTPS_PROXY: 'wrong://', [name]: value })).not.toThrow();
  });
  test.each([
    'api.example.com:8443',
    'example.co',
    'pi.example.com',
    'api.example.com.evil',
    '10.0.0.0/8',
    '',
  ])('NO_PROXY=%s does not name the server', (value) => {
    expect(() => clientOf({ HTTPS_PROXY: 'wrong://', NO_PROXY: value })).toThrow('HTTPS_PROXY');
  });
  test.each([
    ['https://10.1.2.3', '10.0.0.0/8', false],
    ['https://[fd00::1]:8443', '[fd00::1]:8443', true],
    ['https://[fd00::1]', 'fd00::1', true],
  ])('the server %s with NO_PROXY=%s: reached without the proxy is %s', (url, list, isDirect) => {
    const make = () => clientOf({ CALLS_BASE_URL: url, HTTPS_PROXY: 'wrong://', NO_PROXY: list });
    if (isDirect) expect(make).not.toThrow();
    else expect(make).toThrow('HTTPS_PROXY');
  });

  test('a server with http is reached through HTTP_PROXY, and its password is in no error', async () => {
    const proxy = await startProxy();
    const server = await fakeApi().listen();
    afterwards(() => server.close());

    const through = (credentials: string) => {
      const client = clientOf({
        CALLS_BASE_URL: server.url,
        HTTP_PROXY: `http://wrong:LEAK@${proxy.host}`,
        http_proxy: credentials + proxy.host,
      });
      afterwards(() => client.close());
      return client;
    };

    const page = await through('me:p%40ss%23LEAK@').listCalls({ rows: 5 });
    expect(page.records).toHaveLength(5);
    expect(proxy.targets).toEqual([`${server.url}/v3/user/bid-management?rows=5`]);
    expect(server.requests[0]?.headers).toMatchObject({
      host: new URL(server.url).host,
      access_key: 'a',
    });
    const error = await failure(through('http://me:LEAK@').listCalls());
    expect(error).toMatchObject({
      code: 'proxy_failed',
      status: 407,
      summary: 'A proxy does not accept its credentials (status 407).',
      hint: expect.stringContaining('http://user:password@host:port'),
    });
    expect(inspect(error)).not.toContain('LEAK');
  });

  test('a proxy that does not run is named without its password', async () => {
    const client = clientOf({ HTTPS_PROXY: 'http://me:LEAK@127.0.0.1:9' });
    afterwards(() => client.close());
    const error = await failure(client.listCalls());
    expect(error).toMatchObject({
      code: 'proxy_failed',
      isRetryable: true,
      summary: 'No connection to the proxy http://127.0.0.1:9 (ECONNREFUSED).',
    });
    expect(inspect(error)).not.toContain('LEAK');
  });

  test('the option proxy comes before the environment, and false means none', async () => {
    const { server, client } = await serve(
      {},
      { proxy: 'http://me:LEAK@127.0.0.1:9', retry: { attempts: 1 } },
    );
    const error = await failure(client.listCalls());
    expect(error).toMatchObject({ code: 'proxy_failed' });
    expect(inspect(error)).not.toContain('LEAK');
    expect(server.requests).toEqual([]);
    expect(() => clientOf({ HTTPS_PROXY: 'wrong://' }, { proxy: false })).not.toThrow();
    expect(() => clientOf({}, { proxy: 'socks5://LEAK' })).toThrow(
      'proxy must begin with http:// or https://.',
    );
  });

  test('a dispatcher or a fetch of the program decides about proxies itself', () => {
    const dispatcher: RequestDispatcher = { dispatch() {} };
    expect(() => clientOf({ HTTPS_PROXY: 'wrong://' }, { dispatcher })).not.toThrow();
    expect(() => clientOf({ HTTPS_PROXY: 'wrong://' }, { fetch })).not.toThrow();
  });
});

describe('other ways to send', () => {
  test('a dispatcher with the handlers of undici 7 gets the same pages', async () => {
    const { server, client } = await serve(
      {},
      {
        dispatcher: {
          dispatch({ origin, path, headers }, handler) {
            const controller = { abort() {} };
            handler.onRequestStart(controller);
            const pairs = headers.flatMap((name, at) =>
              at % 2 === 0 ? [[name, headers[at + 1]]] : [],
            );
            request(origin + path, { headers: Object.fromEntries(pairs) }, (response) => {
              handler.onResponseStart(controller, response.statusCode ?? 0, response.headers);
              response
                .on('data', (chunk) => handler.onResponseData(controller, chunk))
                .on('end', () => handler.onResponseEnd(controller));
            }).end();
          },
        },
      },
    );
    expect((await client.listCalls()).records).toEqual(server.calls);
    expect((await client.listCalls({ rows: 3 })).total).toBe(20);
  });

  test('a dispatcher that refuses our handlers, as those of undici 6 do, is a wrong option, and tried once', async () => {
    let sent = 0;
    const dispatcher: RequestDispatcher = {
      dispatch() {
        sent += 1;
        throw Object.assign(new Error('invalid onError method'), { code: 'UND_ERR_INVALID_ARG' });
      },
    };
    const { client } = await serve({}, { dispatcher });
    await expect(client.listCalls()).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('undici 7 or 8'),
    });
    expect(sent).toBe(1);
  });

  test('a dispatcher that ends without a response is a failed connection', async () => {
    const dispatcher: RequestDispatcher = {
      dispatch: (_, handler) => handler.onResponseEnd({ abort() {} }),
    };
    const { client } = await serve({}, { dispatcher });
    await expect(client.listCalls()).rejects.toMatchObject({
      code: 'connection_failed',
      attempts: 4,
    });
  });

  test('fetch gets the headers of the client, follows nothing, and is not asked for compression unless the client is', async () => {
    const inits: { headers: [string, string][]; redirect: string }[] = [];

    const spy: ClientOptions['fetch'] = (url, init) => {
      inits.push(init);
      return fetch(url, init);
    };

    const { server, client } = await serve({}, { fetch: spy, compress: false });
    await client.listCalls();
    expect(inits[0]?.redirect).toBe('manual');
    expect(server.requests[0]?.headers).toMatchObject({
      access_key: 'key-one',
      'accept-encoding': 'identity',
    });
    await client.close();
    await expect(client.listCalls()).rejects.toMatchObject({ code: 'client_closed' });
  });

  class TokenExpired extends Error {
    override name = 'TokenExpired';
  }

  test.each([
    ['an error of its own', new TokenExpired('token key-one of LEAK@example.com'), 'TokenExpired'],
    ['an error without a name', new Error('LEAK'), 'Error'],
    ['what Chrome says', new TypeError('Failed to fetch'), 'TypeError'],
    [
      'what Firefox says',
      new TypeError('NetworkError when attempting to fetch resource.'),
      'TypeError',
    ],
    ['what Safari says', new TypeError('Load failed'), 'TypeError'],
    [
      'what Deno says of a request',
      new TypeError('error sending request for url (LEAK)'),
      'TypeError',
    ],
    [
      'what Deno says of a body',
      new TypeError('error reading a body from connection'),
      'TypeError',
    ],
    ['something else', 'LEAK', 'Error'],
  ])(
    'what fetch throws is retried, and its cause has name and frames: %s',
    async (_, thrown, name) => {
      const { client } = await serve({}, { fetch: () => Promise.reject(thrown) });
      const error = await failure(client.listCalls());
      expect(error).toMatchObject({
        code: 'connection_failed',
        attempts: 4,
        message: expect.stringContaining(`threw an error (${name}).`),
        cause: { name },
      });
      if (thrown instanceof Error) expect(inspect(error)).toMatch(/at .*transport\.test\.ts:\d+/);
      expect(inspect(error)).not.toMatch(/LEAK|key-one/);
    },
  );

  test('what a platform throws in words of its own is retried: before the response, and within its body', async () => {
    const unknown = new TypeError('LEAK');
    unknown.stack =
      'TypeError: LEAK\n    at async Object.pull (ext:deno_web/06_streams.js:1:13213)';
    const broken = await serve({}, { fetch: () => Promise.reject(unknown) });
    expect(await failure(broken.client.listCalls())).toMatchObject({
      code: 'connection_failed',
      attempts: 4,
    });
    let pulls = 0;

    const body = () =>
      new ReadableStream({
        pull(controller) {
          pulls += 1;
          if (pulls % 2 === 1) controller.enqueue(new TextEncoder().encode('[{"sid":'));
          else controller.error(new TypeError('LEAK'));
        },
      });

    const headers = { 'content-type': 'application/json' };
    const { client } = await serve({}, { fetch: async () => new Response(body(), { headers }) });
    const error = await failure(client.listCalls());
    expect(error).toMatchObject({ code: 'connection_failed', attempts: 4 });
    expect(inspect(error)).not.toContain('LEAK');
  });

  test('what the fetch of Node.js wraps keeps its code', async () => {
    const { server, client } = await serve({}, { fetch });
    await server.close();
    expect(await failure(client.listCalls())).toMatchObject({
      code: 'connection_failed',
      attempts: 4,
      cause: { code: 'ECONNREFUSED' },
    });
  });

  test('a body of fetch that is shorter than its Content-Length is not taken for the whole', async () => {
    const short = { 'content-type': 'application/json', 'content-length': '500' };
    const { client } = await serve(
      {},
      { fetch: async () => new Response('[]', { headers: short }) },
    );
    await expect(client.listCalls()).rejects.toMatchObject({
      code: 'connection_failed',
      attempts: 4,
    });
  });
});

test.each([
  ['CERT_HAS_EXPIRED', /has expired: .* has to renew it/],
  ['CERT_NOT_YET_VALID', /check the clock of this machine/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /for other host names: check the base URL/],
  ['EPROTO', /whether the base URL should be http/],
  ['SELF_SIGNED_CERT_IN_CHAIN', /name its certificate in NODE_EXTRA_CA_CERTS/],
])('the certificate fault %s has advice of its own', async (code, advice) => {
  const cause = Object.assign(new Error('of the platform'), { code });
  const client = createClient({
    baseUrl: 'https://api.example.com',
    auth: apiKeys('a', 'b'),
    fetch: () => Promise.reject(Object.assign(new TypeError('fetch failed'), { cause })),
  });
  const error = await client.listCalls().then(null, (problem: unknown) => problem);
  expect(error).toMatchObject({
    code: 'connection_failed',
    isRetryable: false,
    hint: expect.stringMatching(advice),
  });
  await client.close();
});
