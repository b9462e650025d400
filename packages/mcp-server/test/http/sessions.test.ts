import { describe, expect, it } from 'vitest';
import { plain, send, useEndpoint } from '../support/http.ts';
import { initialize, rpc } from '../support/rpc.ts';

const { start } = useEndpoint();

describe('a session', () => {
  const begin = async (url: string) =>
    String((await send(url, { headers: plain, body: initialize() })).headers['mcp-session-id']);
  const use = (url: string, id: string) =>
    send(url, { headers: { ...plain, 'mcp-session-id': id }, body: rpc('tools/list') });

  it('begins, is used and ends; an unknown one is 404 and a missing one 400', async () => {
    const url = await start({ sessions: true });
    const id = await begin(url);
    expect((await use(url, id)).status).toBe(200);
    expect((await use(url, 'unknown')).status).toBe(404);
    expect((await send(url, { headers: plain, body: rpc('tools/list') })).status).toBe(400);
    expect((await send(url, { method: 'DELETE', headers: { ...plain, 'mcp-session-id': id } })).status).toBe(
      200,
    );
    expect((await use(url, id)).status).toBe(404);
  });

  it('belongs to the token that began it', async () => {
    const url = await start({ sessions: true, auth: { verify: async (token) => token.startsWith('of-') } });
    const as = (token: string, headers: object = {}) => ({
      ...plain,
      authorization: `Bearer ${token}`,
      ...headers,
    });
    const started = await send(url, { headers: as('of-one'), body: initialize() });
    const id = String(started.headers['mcp-session-id']);
    const asked = (token: string, method?: string) =>
      send(url, {
        headers: as(token, { 'mcp-session-id': id }),
        ...(method === undefined ? { body: rpc('tools/list') } : { method }),
      });
    expect((await asked('of-two')).status).toBe(404);
    expect((await asked('of-two', 'DELETE')).status).toBe(404);
    expect((await asked('of-two', 'GET')).status).toBe(404);
    expect((await asked('of-one')).status).toBe(200);
  });

  it('ends when it has been idle for too long or when there are too many', async () => {
    let now = 0;
    const url = await start({ sessions: { max: 2, idleTimeout: 1000, clock: { now: () => now } } });
    const first = await begin(url);
    now = 500;
    const second = await begin(url);
    const third = await begin(url);
    expect([
      (await use(url, first)).status,
      (await use(url, second)).status,
      (await use(url, third)).status,
    ]).toEqual([404, 200, 200]);
    now = 5000;
    await begin(url);
    expect((await use(url, second)).status).toBe(404);
  });
});
