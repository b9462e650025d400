import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { fetchHandler } from '../src/mount/index.ts';

const url = 'https://calls.example/v3/calls?rows=2';

describe('fetchHandler', () => {
  test('it passes on the method, address, headers and body, and returns status, headers and body', async () => {
    const respond = fetchHandler(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method, url, headers, socket, complete } = request;
      const body = Buffer.concat(chunks).toString();
      const seen = { method, url, host: headers.host, from: socket.remoteAddress, complete, body };
      response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] });
      response.end(JSON.stringify(seen));
    });
    const response = await respond(new Request(url, { method: 'POST', body: 'é'.repeat(10) }), {
      address: '203.0.113.5',
    });
    // Bun passes its server, which has an address too, and others pass null.
    for (const other of [{ address: { port: 1 } }, null])
      expect(await (await respond(new Request(url), other as never)).json()).not.toHaveProperty('from');
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect([...response.headers.keys()]).not.toContain('connection');
    expect(await response.json()).toEqual({
      method: 'POST',
      url: '/v3/calls?rows=2',
      host: 'calls.example',
      from: '203.0.113.5',
      complete: true,
      body: 'é'.repeat(10),
    });
  });

  test.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('a response to %s with status %i has no body', async (method, status) => {
    const respond = fetchHandler((_, response) => {
      response.writeHead(status, { etag: '"1"' }).end();
    });
    const response = await respond(new Request(url, { method }));
    expect([response.status, response.body, response.headers.get('etag')]).toEqual([status, null, '"1"']);
  });

  test('the body is written at the pace of its reader', async () => {
    let written = 0;
    let closed = false;
    const respond = fetchHandler(async (_, response) => {
      response.once('close', () => {
        closed = response.writableFinished;
      });
      for (let i = 0; i < 50; i += 1) {
        await new Promise((done) => response.write(Buffer.alloc(1_000, 65), done));
        written += 1;
      }
      response.end('end');
    });
    const { body } = await respond(new Request(url));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await new Promise(setImmediate);
    expect(written).toBeLessThan(4);
    let bytes = 1_000;
    for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
    expect(bytes).toBe(50_003);
    await new Promise(setImmediate);
    expect(closed).toBe(true);
  });

  test('write returns false when the reader is slow, and drain comes when it reads again', async () => {
    const respond = fetchHandler(async (_, response) => {
      let waits = 0;
      for (let i = 0; i < 20; i += 1) {
        if (response.write(Buffer.alloc(20_000))) continue;
        waits += 1;
        await once(response, 'drain');
      }
      response.end(String(waits).padStart(2, '0'));
    });
    const text = await (await respond(new Request(url))).text();
    expect(text.length).toBe(400_002);
    expect(Number(text.slice(-2))).toBeGreaterThan(5);
  });

  test.each([
    ['the signal of the request is aborted', (_: Response, abort: AbortController) => abort.abort()],
    ['the body of the response is cancelled', ({ body }: Response) => body?.cancel()],
  ])('the listener sees that the client has left when %s', async (_, leave) => {
    const abort = new AbortController();
    let gone: Promise<unknown> = Promise.resolve();
    const respond = fetchHandler((_, response) => {
      gone = once(response, 'close').then(() => response.writableFinished);
      response.writeHead(200).write('first');
      response.once('close', () => response.end('nobody reads this'));
    });
    const response = await respond(new Request(url, { signal: abort.signal }));
    await leave(response, abort);
    expect(await gone).toBe(false);
  });

  test('a connection that the listener closes is an error, before the head and after it', async () => {
    const early = fetchHandler((request: IncomingMessage) => void request.socket.destroy());
    await expect(early(new Request(url))).rejects.toThrow('closed before the end of the response');
    const late = fetchHandler((_, response: ServerResponse) => {
      response.write('part', () => response.destroy());
    });
    await expect((await late(new Request(url))).text()).rejects.toThrow('closed before the end');
    const failing = fetchHandler(() => Promise.reject(new Error('no store')));
    await expect(failing(new Request(url))).rejects.toThrow('no store');
  });

  test('a body that was read before is refused', async () => {
    const request = new Request(url, { method: 'POST', body: 'x' });
    await request.text();
    await expect(fetchHandler(() => {})(request)).rejects.toThrow('has been read already');
  });
});
