import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isBusy, sendJson, sendRequest } from '@call-attribution/core/http';
import { createManualClock } from '@call-attribution/core/testing';
import { afterAll, afterEach, expect, test } from 'vitest';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const answers: Answer[] = [];
const asked: IncomingMessage[] = [];
const server = createServer((request, response) => {
  asked.push(request);
  const answer = answers.shift();
  if (answer) answer(request, response);
  else response.end('{}');
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
afterEach(() => {
  answers.length = 0;
  asked.length = 0;
});
afterAll(() => new Promise((done) => server.close(done)));

const status =
  (code: number, headers: Record<string, string> = {}, body = '{}'): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end(body);
const get = { method: 'GET' };
const retry = { attempts: 3, baseDelay: 1, maxDelay: 1 };

test('a redirect is not followed: a secret must not go anywhere else', async () => {
  answers.push(status(302, { location: new URL('/elsewhere', url).href }));
  const { response } = await sendJson(url, get);
  expect(response).toMatchObject({ status: 302, body: null });
  expect(asked).toHaveLength(1);
});

test('a response that is too long or too slow is none', async () => {
  answers.push(status(200, {}, JSON.stringify({ text: 'x'.repeat(1_000) })));
  expect(await sendRequest(url, get, { most: 100 })).toMatchObject({
    response: null,
    reason: 'the response is too long',
  });
  answers.push(() => {});
  expect(await sendRequest(url, get, { deadline: 30 })).toMatchObject({
    response: null,
    reason: 'no response within 0.03 s',
    mayBeTaken: true,
  });
});

test('a reason never quotes a header, whatever the platform says about it', async () => {
  const headers = { authorization: 'Bearer TOP-SECRET\nx' };
  const sent = await sendRequest(url, { ...get, headers });
  expect(sent.response).toBeNull();
  expect(JSON.stringify(sent)).not.toContain('TOP-SECRET');
});

test('it is sent again while the server is busy, as late as the server asks, and no further', async () => {
  const clock = createManualClock(0);
  answers.push(status(429, { 'retry-after': '7' }), status(503), status(200, {}, '{"a":1}'));
  const sending = sendJson(url, get, { retry, clock });
  let isDone = false;
  void sending.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((done) => setTimeout(done, 2));
    await clock.advance(500);
  }

  expect(await sending).toMatchObject({ response: { body: { a: 1 } }, mayBeTaken: true });
  expect(clock.now()).toBeGreaterThanOrEqual(7_000);
  expect(asked).toHaveLength(3);

  answers.push(status(429, { 'retry-after': '7200' }));
  const { response, mayBeTaken } = await sendJson(url, get, { retry });
  expect([response?.status, mayBeTaken, asked.length]).toEqual([429, false, 4]);
  expect(response !== null && isBusy(response)).toBe(true);
});

test('a token that was refused is renewed once, and what cannot be signed is not sent', async () => {
  const renewed: boolean[] = [];
  const sign = async (renew: boolean) => {
    renewed.push(renew);
    return { authorization: `Bearer ${renewed.length}` };
  };
  answers.push(status(401), status(401));
  const { response } = await sendJson(url, get, { retry, sign });
  expect([response?.status, renewed]).toEqual([401, [false, true]]);

  const error = new Error('no token');
  const unsigned = await sendJson(url, get, { retry, sign: () => Promise.reject(error) });
  expect(unsigned).toMatchObject({ response: null, unsigned: error, mayBeTaken: false });
  expect(asked).toHaveLength(2);
});

test('it ends with the reason of its signal', async () => {
  answers.push(() => {});
  const stop = new AbortController();
  const sending = sendRequest(url, get, { signal: stop.signal });
  stop.abort(new Error('stopped'));
  await expect(sending).rejects.toThrow('stopped');
});
