import { apiKeys, createClient } from '@call-attribution/core';
import { fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { createServer, serveHttp } from '../../src/index.ts';
import { ping, plain, send, token, useEndpoint } from '../support/http.ts';
import { rpc } from '../support/rpc.ts';

const { start } = useEndpoint();

describe('the HTTP endpoint', () => {
  it.each<[string, Record<string, string>, number]>([
    ['a foreign Host', { host: 'evil.example' }, 403],
    ['a Host that begins like ours', { host: 'localhost.evil.example' }, 403],
    ['a Host with a user part', { host: 'localhost@evil.example' }, 403],
    ['a foreign Origin', { origin: 'https://evil.example' }, 403],
    ['Origin null', { origin: 'null' }, 403],
    ['an Origin that begins like ours', { origin: 'http://localhost.evil.example' }, 403],
    ['a page on another port of this machine', { origin: 'http://localhost:5173' }, 403],
    ['an allowed Host', { host: 'calls.example:3000' }, 200],
    ['an allowed Origin', { origin: 'https://app.example' }, 200],
  ])('responds to a request with %s with %i', async (_what, headers, status) => {
    const url = await start({
      allowedHosts: ['calls.example'],
      allowedOrigins: ['https://app.example'],
      auth: { token },
    });
    const authorization = `Bearer ${token}`;
    const response = await send(url, { ...ping, headers: { ...plain, authorization, ...headers } });
    expect(response.status).toBe(status);
  });

  it.each<[string, Record<string, string>, number]>([
    ['no token', {}, 401],
    ['a wrong token', { authorization: 'Bearer wrong' }, 401],
    ['a part of the token', { authorization: `Bearer ${token.slice(0, -1)}` }, 401],
    ['another scheme', { authorization: `Basic ${token}` }, 401],
    ['the token', { authorization: `Bearer ${token}` }, 200],
  ])('responds to a request with %s with %i', async (_what, headers, status) => {
    const url = await start({ auth: { token } });
    const response = await send(url, { ...ping, headers: { ...plain, ...headers } });
    expect(response.status).toBe(status);
    if (status === 401) expect(response.headers['www-authenticate']).toMatch(/^Bearer /);
    expect(response.text).not.toContain(token);
  });

  it('never sends its own token to the API', async () => {
    const api = await fakeApi({ calls: fixtureCalls(3) }).listen();
    const client = createClient({
      baseUrl: api.url,
      auth: apiKeys('an-access-key', 'a-secret-key'),
    });
    const endpoint = await serveHttp(createServer(client), { port: 0, auth: { token } });
    const response = await send(endpoint.url, {
      headers: { ...plain, authorization: `Bearer ${token}` },
      body: rpc('tools/call', { name: 'count_calls', arguments: {} }),
    });
    expect(response.json).toMatchObject({ result: { structuredContent: { total: 3 } } });
    const [seen] = api.requests;
    expect(seen?.headers).toMatchObject({
      access_key: 'an-access-key',
      secret_key: 'a-secret-key',
    });
    expect(JSON.stringify(seen)).not.toContain(token);
    await endpoint.close();
    await client.close();
    await api.close();
  });

  it('verifies a token with a function, and says where to get one', async () => {
    const metadata = {
      resource: 'https://calls.example/mcp',
      authorizationServers: ['https://login.example'],
      scopes: ['calls:read'],
    };
    const url = await start({
      auth: { verify: async (received) => received === 'from-login', metadata },
    });
    const refused = await send(url, ping);
    expect(refused.status).toBe(401);
    expect(refused.headers['www-authenticate']).toContain(
      'resource_metadata="https://calls.example/.well-known/oauth-protected-resource/mcp"',
    );
    expect(
      (await send(url, { ...ping, headers: { ...plain, authorization: 'Bearer from-login' } }))
        .status,
    ).toBe(200);
    const found = await send(url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp'), {
      method: 'GET',
    });
    expect(found.json).toEqual({
      resource: 'https://calls.example/mcp',
      authorization_servers: ['https://login.example'],
      bearer_methods_supported: ['header'],
      scopes_supported: ['calls:read'],
    });
  });

  it('refuses to listen for other machines without a token', async () => {
    await expect(start({ host: '0.0.0.0' })).rejects.toThrow(
      'Refusing to listen on 0.0.0.0 without a token',
    );
    await expect(start({ host: '0.0.0.0', auth: {} })).rejects.toThrow('without a token');
    await expect(start({ allowedHosts: ['localhost', 'calls.example'] })).rejects.toThrow(
      'Refusing to answer for calls.example without a token',
    );
    await expect(start({ auth: { token: 'short' } })).rejects.toThrow('too short');
    await expect(start({ auth: { token: 'p@ssword!with$pecials' } })).rejects.toThrow(
      /an Authorization header cannot carry/,
    );
  });

  it.each<[string, { method?: string; headers?: Record<string, string>; body?: unknown }, number]>([
    ['GET', { method: 'GET', headers: plain }, 405],
    ['DELETE', { method: 'DELETE', headers: plain }, 405],
    [
      'another content type',
      { headers: { ...plain, 'content-type': 'text/plain' }, body: rpc('ping') },
      415,
    ],
    ['no accept', { headers: { 'content-type': 'application/json' }, body: rpc('ping') }, 406],
    ['broken JSON', { headers: plain, body: '{' }, 400],
    ['a body over the limit', { headers: plain, body: 'x'.repeat(1_100_000) }, 413],
    [
      'a chunked body over the limit',
      { headers: { ...plain, 'transfer-encoding': 'chunked' }, body: 'x'.repeat(1_100_000) },
      413,
    ],
    [
      'an unknown old version',
      { headers: { ...plain, 'mcp-protocol-version': '1999-01-01' }, body: rpc('ping') },
      400,
    ],
    ['something that is not a message', { headers: plain, body: { a: 1 } }, 400],
  ])('responds to %s with %i', async (_what, request, status) => {
    expect((await send(await start(), request)).status).toBe(status);
  });

  it('reports its health, and nothing on other paths', async () => {
    const url = await start({ auth: { token } });
    expect((await send(url.replace('/mcp', '/other'), { method: 'GET' })).status).toBe(404);
    for (const path of ['/healthz', '/readyz'])
      expect((await send(url.replace('/mcp', path), { method: 'GET' })).status).toBe(200);
  });

  it('has metrics of its tools for those who have the token', async () => {
    const url = await start({ auth: { token } });
    const headers = { ...plain, authorization: `Bearer ${token}` };
    const metrics = url.replace('/mcp', '/metrics');
    expect((await send(metrics, { method: 'GET' })).status).toBe(401);
    await send(url, { headers, body: rpc('tools/call', { name: 'a-secret-name', arguments: {} }) });
    await send(url, {
      headers,
      body: rpc('tools/call', { name: 'count_calls', arguments: { from: 'never' } }),
    });
    const { text } = await send(metrics, { method: 'GET', headers });
    expect(text).toContain('calls_mcp_tool_calls_total{tool="unknown",result="error"} 1');
    expect(text).toContain('calls_mcp_tool_calls_total{tool="count_calls",result="error"} 1');
    expect(text).toContain('calls_mcp_tool_seconds_count{tool="count_calls"} 1');
    expect(text).not.toContain('secret');
  });

  it('is not ready without credentials, and does not say which', async () => {
    const server = createServer(() => {
      throw new Error('CALLS_SECRET_KEY is not set in /home/someone');
    });
    await using endpoint = await serveHttp(server, { port: 0 });
    const { status, text } = await send(endpoint.url.replace('/mcp', '/readyz'), { method: 'GET' });
    expect([status, text]).toEqual([503, 'the credentials are missing or cannot be used\n']);
  });
});
