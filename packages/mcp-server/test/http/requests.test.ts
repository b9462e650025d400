import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { held } from '../support/held.ts';
import { ping, plain, send, stateless, useEndpoint } from '../support/http.ts';
import { meta, revision, rpc } from '../support/rpc.ts';

const { start, stop } = useEndpoint();

describe('the HTTP endpoint', () => {
  it.each([false, true])('serves the client of the SDK (sessions: %s)', async (sessions) => {
    const url = await start({ sessions });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
    expect((await client.listTools()).tools).toHaveLength(6);
    const progress: unknown[] = [];
    const result = await client.callTool({ name: 'summarize_calls', arguments: {} }, undefined, {
      onprogress: (each) => progress.push(each.progress),
    });
    expect(result.structuredContent).toMatchObject({ calls: 30, complete: true });
    expect(progress).toEqual([30]);
    await client.close();
  });

  it('serves a client of 2026-07-28 without a session, as JSON', async () => {
    const url = await start();
    const response = await send(url, {
      headers: stateless('tools/call', { 'mcp-name': 'count_calls' }),
      body: rpc('tools/call', { _meta: meta, name: 'count_calls' }),
    });
    expect(response.status).toBe(200);
    expect(response.headers['mcp-session-id']).toBeUndefined();
    expect(response.json).toMatchObject({
      id: 1,
      result: { resultType: 'complete', structuredContent: { total: 30 } },
    });
  });

  it('streams the progress of a 2026-07-28 call before its result', async () => {
    const url = await start();
    const response = await send(url, {
      headers: stateless('tools/call', { 'mcp-name': 'summarize_calls' }),
      body: rpc('tools/call', { _meta: { ...meta, progressToken: 'p' }, name: 'summarize_calls' }),
    });
    expect(response.headers['content-type']).toBe('text/event-stream');
    const events = response.text.split('\n').filter((line) => line.startsWith('data: '));
    expect(events.map((line) => JSON.parse(line.slice(6)))).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'p', progress: 30 } },
      { id: 1, result: { resultType: 'complete' } },
    ]);
  });

  it.each<[string, Record<string, string>, object, number, number]>([
    ['without _meta', stateless('tools/list'), rpc('tools/list'), 400, -32602],
    [
      'without the version header',
      { ...plain, 'mcp-method': 'tools/list' },
      rpc('tools/list', { _meta: meta }),
      400,
      -32020,
    ],
    [
      'with another version header',
      { ...stateless('tools/list'), 'mcp-protocol-version': '2027-01-01' },
      rpc('tools/list', { _meta: meta }),
      400,
      -32020,
    ],
    [
      'without Mcp-Method',
      { ...plain, 'mcp-protocol-version': revision },
      rpc('tools/list', { _meta: meta }),
      400,
      -32020,
    ],
    ['with another Mcp-Method', stateless('tools/call'), rpc('tools/list', { _meta: meta }), 400, -32020],
    [
      'without Mcp-Name',
      stateless('tools/call'),
      rpc('tools/call', { _meta: meta, name: 'count_calls' }),
      400,
      -32020,
    ],
    [
      'with another Mcp-Name',
      stateless('tools/call', { 'mcp-name': 'get_call' }),
      rpc('tools/call', { _meta: meta, name: 'count_calls' }),
      400,
      -32020,
    ],
    ['for an unknown method', stateless('x/y'), rpc('x/y', { _meta: meta }), 404, -32601],
    ['for a method of the handshake revisions', stateless('ping'), rpc('ping', { _meta: meta }), 404, -32601],
    [
      'for an unknown resource',
      stateless('resources/read', { 'mcp-name': 'calls://x' }),
      rpc('resources/read', { _meta: meta, uri: 'calls://x' }),
      200,
      -32602,
    ],
  ])('refuses a 2026-07-28 request %s', async (_what, headers, body, status, code) => {
    const response = await send(await start(), { headers, body });
    expect(response.status).toBe(status);
    expect(response.json).toMatchObject({ id: 1, error: { code } });
  });

  it('accepts an encoded Mcp-Name', async () => {
    const name = `=?base64?${Buffer.from('calls://fields').toString('base64')}?=`;
    const response = await send(await start(), {
      headers: stateless('resources/read', { 'mcp-name': name }),
      body: rpc('resources/read', { _meta: meta, uri: 'calls://fields' }),
    });
    expect(response.status).toBe(200);
  });

  it('responds to a batch of 2025-03-26, and to notifications alone with 202', async () => {
    const url = await start();
    const batch = [
      rpc('ping', {}, 'a'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      rpc('tools/list', {}, 'b'),
    ];
    const response = await send(url, { headers: plain, body: batch });
    expect((response.json as unknown as { id: string }[]).map(({ id }) => id)).toEqual(['a', 'b']);
    expect((await send(url, { headers: plain, body: batch[1] })).status).toBe(202);
    expect((await send(url, { headers: plain, body: [] })).status).toBe(400);
    expect((await send(url, { headers: plain, body: Array(51).fill(batch[0]) })).status).toBe(400);
  });

  it('aborts a call when its client disconnects', async () => {
    for (const family of ['2025', '2026']) {
      const { before, begun, aborted } = held();
      const url = await start({}, { before });
      const controller = new AbortController();
      const isStateless = family === '2026';
      const call = fetch(url, {
        method: 'POST',
        signal: controller.signal,
        headers: isStateless ? stateless('tools/call', { 'mcp-name': 'list_calls' }) : plain,
        body: JSON.stringify(
          rpc('tools/call', { name: 'list_calls', arguments: {}, ...(isStateless ? { _meta: meta } : {}) }),
        ),
      });
      await begun;
      controller.abort();
      await expect(call).rejects.toThrow();
      await aborted;
      await stop();
    }
  });

  it('finishes running calls when it stops, and accepts no new ones', async () => {
    let running: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      running = resolve;
    });
    const url = await start(
      { graceMs: 5000 },
      {
        before: async () => {
          running();
          await new Promise((resolve) => setTimeout(resolve, 50));
        },
      },
    );
    const call = send(url, {
      headers: plain,
      body: rpc('tools/call', { name: 'list_calls', arguments: {} }),
    });
    await begun;
    const closed = stop();
    expect((await call).json).toMatchObject({ result: { structuredContent: { total: 30 } } });
    await closed;
    await expect(send(url, ping)).rejects.toThrow();
  });
});
