import { describe, expect, it } from 'vitest';
import { ping, plain, send, token, useEndpoint } from '../support/http.ts';

const { start } = useEndpoint();

const page = 'https://app.example';

describe('a page in a browser', () => {
  const preflight = (origin: string) => ({
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,mcp-protocol-version',
    },
  });

  it('of an allowed origin may ask, without a token, whether it may send a request', async () => {
    const url = await start({ allowedOrigins: [page], auth: { token } });
    const { status, headers } = await send(url, preflight(page));
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization,content-type,mcp-protocol-version',
      vary: 'origin',
    });
  });

  it.each<[string, object, number]>([
    ['with the token', { authorization: `Bearer ${token}` }, 200],
    ['without it', {}, 401],
  ])('of an allowed origin reads the response %s', async (_what, more, status) => {
    const url = await start({ allowedOrigins: [page], auth: { token } });
    const headers = { ...plain, origin: page, ...more };
    const response = await send(url, {
      headers,
      body: { ...ping.body, method: 'initialize', params: hello },
    });
    expect(response.status).toBe(status);
    expect(response.headers['access-control-allow-origin']).toBe(page);
    expect(response.headers['access-control-expose-headers']).toContain('www-authenticate');
  });

  it.each(['https://evil.example', 'http://localhost:5173'])(
    'of %s cannot read anything',
    async (origin) => {
      const url = await start({ allowedOrigins: [page], auth: { token } });
      for (const request of [preflight(origin), { ...ping, headers: { ...plain, origin } }]) {
        const { headers } = await send(url, request);
        expect(headers['access-control-allow-origin']).toBeUndefined();
      }
    },
  );
});

const hello = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'page', version: '1' },
};
