import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, serveHttp } from '../../src/index.ts';
import { run } from '../../src/program.ts';
import { fakeClient } from '../support/fake-client.ts';
import { ping, plain, send, token, useEndpoint } from '../support/http.ts';

const { start } = useEndpoint();
const resource = 'https://calls.example/mcp';

/** An authorization server: its metadata and its keys. */
async function authorizationServer(
  change: (metadata: Record<string, unknown>) => void = () => undefined,
) {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  const server = createHttpServer((request, response) => {
    const metadata = { issuer: url(), jwks_uri: `${url()}/jwks` };
    change(metadata);
    const pages: Record<string, unknown> = {
      '/jwks': { keys: [{ ...jwk, kid: 'one', alg: 'ES256', use: 'sig' }] },
      '/.well-known/oauth-authorization-server': metadata,
    };
    const body = pages[request.url ?? ''];
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  function url(): string {
    return `http://127.0.0.1:${port}`;
  }

  const sign = (
    claims: Record<string, unknown>,
    key: Parameters<SignJWT['sign']>[0] = privateKey,
    alg = 'ES256',
  ) =>
    new SignJWT({ iss: url(), aud: resource, client_id: 'a', exp: now() + 300, ...claims })
      .setProtectedHeader({ alg, kid: 'one' })
      .sign(key);

  return { url: url(), jwk, sign, close: () => new Promise((resolve) => server.close(resolve)) };
}

const now = (): number => Math.floor(Date.now() / 1000);

let server: Awaited<ReturnType<typeof authorizationServer>>;
let other: typeof server;
beforeAll(async () => {
  server = await authorizationServer();
  other = await authorizationServer();
});
afterAll(async () => {
  await server.close();
  await other.close();
});

const endpoint = (scopes?: string[]) =>
  start({
    allowedHosts: ['calls.example'],
    auth: {
      metadata: {
        resource,
        authorizationServers: [server.url],
        ...(scopes === undefined ? {} : { scopes }),
      },
    },
  });

const as = async (url: string, bearer: string) =>
  send(url, { ...ping, headers: { ...plain, authorization: `Bearer ${bearer}` } });

describe('a token of an authorization server', () => {
  it.each<[string, () => Promise<string> | string, number]>([
    ['for this endpoint', () => server.sign({}), 200],
    [
      'for this endpoint among others',
      () => server.sign({ aud: ['https://a.example', resource] }),
      200,
    ],
    ['for another endpoint', () => server.sign({ aud: 'https://other.example/mcp' }), 401],
    ['for none', () => server.sign({ aud: undefined }), 401],
    ['that has expired', () => server.sign({ exp: now() - 120 }), 401],
    ['that never expires', () => server.sign({ exp: undefined }), 401],
    ['that is not valid yet', () => server.sign({ nbf: now() + 600 }), 401],
    ['of another server', () => other.sign({}), 401],
    ['of another server under this name', () => other.sign({ iss: server.url }), 401],
    [
      'signed with the public key as a secret',
      () => server.sign({}, new TextEncoder().encode(JSON.stringify(server.jwk)), 'HS256'),
      401,
    ],
    [
      'without a signature',
      () => new UnsecuredJWT({ iss: server.url, aud: resource, exp: now() + 300 }).encode(),
      401,
    ],
    ['that is no JWT', () => 'an-opaque-token-of-some-length', 401],
  ])('%s', async (_what, make, status) => {
    const bearer = await make();
    const response = await as(await endpoint(), bearer);
    expect(response.status).toBe(status);
    expect(response.text).not.toContain(bearer);
    if (status === 401)
      expect(response.headers['www-authenticate']).toContain(
        'resource_metadata="https://calls.example/.well-known/oauth-protected-resource/mcp"',
      );
  });

  it('says so when it is opaque', async () => {
    const response = await as(await endpoint(), 'an-opaque-token-of-some-length');
    expect(response.headers['www-authenticate']).toContain('no opaque ones');
  });

  it('needs the scopes that the endpoint names', async () => {
    const url = await endpoint(['calls:read']);
    expect((await as(url, await server.sign({ scope: 'email calls:read' }))).status).toBe(200);
    const without = await as(url, await server.sign({ scope: 'email' }));
    expect([without.status, without.headers['www-authenticate']]).toEqual([
      403,
      expect.stringContaining('insufficient_scope'),
    ]);
  });

  it('is not needed where the static token is sent, and nothing passes without either', async () => {
    const url = await start({
      auth: { token, metadata: { resource, authorizationServers: [server.url] } },
    });
    expect((await as(url, token)).status).toBe(200);
    expect((await as(url, await server.sign({}))).status).toBe(200);
    expect((await send(url, ping)).status).toBe(401);
  });

  it('is refused while the server cannot be asked, and used when it can', async () => {
    let isDown = true;
    const late = await authorizationServer((metadata) => {
      if (isDown) delete metadata.issuer;
    });
    const lines: string[] = [];
    const log = (line: string) => lines.push(line);
    await using served = await serveHttp(createServer(fakeClient([]), { log }), {
      port: 0,
      auth: { metadata: { resource, authorizationServers: [late.url] } },
    });
    const bearer = await late.sign({});
    expect((await as(served.url, bearer)).status).toBe(500);
    expect(lines.join()).toContain('its metadata names another issuer');
    expect(lines.join()).not.toContain(bearer);
    isDown = false;
    expect((await as(served.url, bearer)).status).toBe(200);
    await late.close();
  });
});

describe('the program with --resource and --authorization-server', () => {
  const execute = async (argv: readonly string[], env: Record<string, string> = {}) => {
    const log: string[] = [];
    const io = { env, write: () => undefined, log: (line: string) => log.push(line) };
    const code = await run(['--http', '0', ...argv], { ...io, stopped: Promise.resolve() });
    return { code, log: log.join('\n') };
  };

  const at = (url: string) => ['--resource', resource, '--authorization-server', url];

  it('checks tokens', async () => {
    const { code, log } = await execute(at(server.url));
    expect(code).toBe(0);
    expect(log).toMatch(/Serving on http:\/\/127\.0\.0\.1:\d+\/mcp\.$/);
  });

  it.each<[string, string, string]>([
    ['no URL', 'login', 'it must be a URL that begins with https://'],
    [
      'HTTP to another machine',
      'http://login.example',
      'it must be a URL that begins with https://',
    ],
    ['nobody there', 'http://127.0.0.1:9', 'it has no metadata at'],
  ])('does not start with %s', async (_what, url, why) => {
    const { code, log } = await execute(at(url));
    expect(code).toBe(2);
    expect(log).toContain(`The authorization server ${url} cannot be used: ${why}`);
    expect(log).not.toContain('Serving');
  });

  it.each<[string, (metadata: Record<string, unknown>) => void, string]>([
    [
      'that is another',
      (metadata) => (metadata.issuer = 'https://evil.example'),
      'names another issuer',
    ],
    ['without keys', (metadata) => delete metadata.jwks_uri, 'names no keys'],
    [
      'with keys in clear',
      (metadata) => (metadata.jwks_uri = 'http://x.example/'),
      'names no keys',
    ],
  ])('does not start with a server %s', async (_what, change, why) => {
    const wrong = await authorizationServer((metadata) => void change(metadata));
    const { code, log } = await execute(at(wrong.url));
    expect([code, log]).toEqual([2, expect.stringContaining(why)]);
    await wrong.close();
  });

  it.each([
    [{ CALLS_MCP_TOKEN: '' }, [], 2, 'CALLS_MCP_TOKEN is empty'],
    [{}, ['--http', '0.0.0.0:0'], 2, 'Refusing to listen on 0.0.0.0 without a token'],
    [
      {},
      ['--allow-host', 'calls.example'],
      2,
      'Refusing to answer for calls.example without a token',
    ],
  ])('%j %j never starts open by accident', async (env, argv, status, why) => {
    const { code, log } = await execute(argv, env);
    expect([code, log]).toEqual([status, expect.stringContaining(why)]);
    expect(log).not.toContain('Serving');
  });
});
