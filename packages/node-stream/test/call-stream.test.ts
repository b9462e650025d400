import type { Call } from '@call-attribution/core';
import { describe, expect, test } from 'vitest';
import { createCallByteStream } from '../src/calls/call-byte-stream.ts';
import { type CallStreamOptions, createCallStream } from '../src/calls/call-stream.ts';
import { defineSink } from '../src/sinks/sink.ts';
import { type FakeRecord, FakeServer, fakeRecords } from './fake-server.ts';

const now = () => Date.UTC(2026, 5, 1);

async function read(server: FakeServer, options: CallStreamOptions = {}) {
  const stream = createCallStream(server, { clock: { now }, rows: 50, ...options });
  const calls: Call[] = [];
  for await (const call of stream) calls.push(call);
  return { calls, sids: calls.map((call) => call.sid), verdict: await stream.verdict };
}

const sidsOf = (records: readonly FakeRecord[]) => records.map((record) => record.sid);

describe('a list that stays as it is', () => {
  test.each([
    ['no record', 0],
    ['one record', 1],
    ['a full page', 50],
    ['one more than a page', 51],
    ['many pages', 5000],
  ])('%s: each is read once and in order', async (_, count) => {
    const server = new FakeServer(fakeRecords(count));
    const { sids, verdict } = await read(server, { prefetch: 8 });
    expect(sids).toEqual(sidsOf(server.records));
    expect(verdict).toMatchObject({ total: count, delivered: count, proof: 'whole', rereads: 0 });
  });

  test('one request reads a list that fits in one page', async () => {
    const server = new FakeServer(fakeRecords(50));
    await read(server);
    expect(server.requests).toHaveLength(1);
  });
});

test('timeout, retry and headers go with every request, the count at the end included', async () => {
  const server = new FakeServer(fakeRecords(500));
  const request = { timeout: { attempt: 5_000 }, retry: { attempts: 2 }, headers: { 'x-team': 'a' } };
  await read(server, request);
  expect(server.requests.length).toBeGreaterThan(5);
  for (const sent of server.requests) expect(sent).toMatchObject(request);
});

describe('createCallByteStream', () => {
  test('it gives the lines as the server sent them', async () => {
    const server = new FakeServer(fakeRecords(500));
    const chunks: Buffer[] = [];
    for await (const chunk of createCallByteStream(server, { clock: { now }, rows: 50 })) chunks.push(chunk);
    const lines = Buffer.concat(chunks).toString().trimEnd().split('\n');
    expect(lines).toEqual(server.records.map((record) => JSON.stringify(record)));
  });
});

test.each([
  ['before it is made', true],
  ['while its sink is opened', false],
] as const)('a signal that aborts %s fails the write, and not the process', async (_, isEarly) => {
  const reason = new Error('somebody else does it');
  const abort = new AbortController();
  if (isEarly) abort.abort(reason);
  const stream = createCallStream(new FakeServer(fakeRecords(500)), { clock: { now }, signal: abort.signal });
  const closed = new Promise((resolve) => stream.on('close', resolve));
  const written: unknown[] = [];
  const sink = defineSink<Call, object>(async (chain) => {
    abort.abort(reason);
    // By now the stream has said that it failed.
    await closed;
    for await (const call of chain) written.push(call);
    return {};
  });
  const writing = stream.into(sink);
  await expect(writing).rejects.toMatchObject({ cause: reason });
  expect(written).toEqual([]);
});
