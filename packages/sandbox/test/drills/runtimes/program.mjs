// What a program does with core and node-stream, on any runtime: `program.mjs <url> <records>
// <folder> [undici package]`. It checks itself, and prints what it has done as one line of JSON.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
import { apiKeys, CallsError, createClient } from '@call-attribution/core';
import { createCallStream, memoryState, syncCalls } from '@call-attribution/node-stream';
import { toCsv, toNdjson } from '@call-attribution/node-stream/encoders';
import { count, tumbling } from '@call-attribution/node-stream/operators';
import { fileSink } from '@call-attribution/node-stream/sinks';

const [url = '', records = '', folder = '', how = 'default'] = process.argv.slice(2);
const total = Number(records);
const filter = 'inc_gce:1'; // calls through call extensions, too
const auth = apiKeys('test_access_101', 'test_secret_101');
/** @type {string[]} */
const done = [];

/** @type {Record<string, unknown>} */
const transport = {};
if (how === 'fetch') transport.fetch = globalThis.fetch;
else if (how !== 'default') transport.dispatcher = new (await import(how)).Agent();
const options = { baseUrl: url, auth, retry: { baseDelay: 1 }, ...transport };
const client = createClient(options);

/** @param {string} name @param {() => Promise<unknown>} work */
async function step(name, work) {
  try {
    await work();
  } catch (error) {
    throw new Error(
      `${name}: ${error instanceof CallsError ? `${error.code} ${error.message}` : error}`,
      {
        cause: error,
      },
    );
  }
  done.push(name);
}

/** @param {string} faults */
const faults = (faults) =>
  fetch(`${url}/sandbox/faults?${new URLSearchParams({ key: 'test_access_101', faults })}`, {
    method: 'PUT',
  });
const noFaults = () => fetch(`${url}/sandbox/faults`, { method: 'DELETE' });

/**
 * The error that a request ends with, and how long it took.
 * @param {string} words
 * @param {object} [given]
 */
async function failure(words, given = {}) {
  await faults(words);
  const started = Date.now();
  const error = await client.listCalls({ rows: 5, ...given }).then(
    () => assert.fail(`${words}: no error`),
    (/** @type {Error & Partial<CallsError>} */ thrown) => thrown,
  );
  await noFaults();
  return { error, code: error.code, attempts: error.attempts, ms: Date.now() - started };
}

await step('all calls once, in order', async () => {
  const sids = [];
  for await (const call of client.listCalls({ filter, rows: 90 })) sids.push(call.sid);
  assert.equal(new Set(sids).size, total);
  assert.equal((await client.countCalls({ filter })).total, total);
  assert.equal((await client.getCall(sids[7] ?? '')).sid, sids[7]);
});
await step('keys', async () => {
  const stranger = createClient({ ...options, auth: apiKeys('wrong', 'keys') });
  await assert.rejects(() => stranger.listCalls(), { code: 'unauthorized', status: 401 });
  await stranger.close();
  const posted = createClient({ ...options, legacyBaseUrl: url });
  const numbers = await posted.listSmsNumbers({ method: 'POST' });
  assert.ok(numbers.length > 0);
  assert.deepEqual(await posted.listSmsNumbers(), numbers);
  await posted.close();
});
await step('retry', async () => {
  await faults('status=503, times=2');
  assert.equal((await client.listCalls({ rows: 5 })).meta.attempts, 3);
  await faults('cut=0.5, times=1');
  assert.equal((await client.listCalls({ rows: 5 })).meta.attempts, 2);
  await faults('reset, times=1');

  // Some platforms send a GET again themselves when a connection that was kept open ends.
  assert.ok((await client.listCalls({ rows: 5 })).meta.attempts <= 2);
  await noFaults();
});
await step('timeouts', async () => {
  const timeout = { idle: 200, attempt: 5_000, total: 10_000 };
  const silent = await failure('silent', { timeout, retry: { attempts: 2 } });
  assert.deepEqual([silent.code, silent.attempts], ['timeout', 2]);
  const stalled = await failure('stall=0.5', { timeout, retry: { attempts: 1 } });
  assert.deepEqual([stalled.code, stalled.attempts], ['timeout', 1]);
  assert.ok(stalled.ms < 4_000, `${stalled.ms} ms`);
});
await step('abort', async () => {
  const reason = new Error('my own reason');
  for (const words of ['silent', 'stall=0.5', 'drip=10, drip-every=50ms']) {
    const stop = new AbortController();
    setTimeout(() => stop.abort(reason), 100);
    const { error, ms } = await failure(words, { signal: stop.signal });
    assert.equal(error, reason, words);
    assert.ok(ms < 4_000, `${ms} ms`);
  }
});
await step('compression', async () => {
  for (const encoding of ['gzip', 'br']) {
    await faults(`encoding=${encoding}`);
    assert.equal((await client.listCalls({ rows: 40 })).records.length, 40);
  }

  await noFaults();
  const plain = createClient({ ...options, compress: false });
  assert.equal((await plain.listCalls({ rows: 5 })).meta.headers['content-encoding'], undefined);
  await plain.close();
  const cut = await failure('encoding=cut-gzip');
  assert.equal(cut.attempts, 4);
  assert.match(String(cut.code), /^(?:invalid_json|connection_failed)$/);
});
await step('size limits', async () => {
  const small = createClient({ ...options, maxBodyBytes: 100_000 });
  await faults('bomb=20000000');
  await assert.rejects(() => small.listCalls(), { code: 'body_too_large' });
  await noFaults();
  await assert.rejects(() => small.listCalls({ rows: 200 }), { code: 'body_too_large' });
  await small.close();
});
await step('redirects', async () => {
  const { code, attempts } = await failure('redirect=https://elsewhere.example/login');
  assert.deepEqual([code, attempts], ['redirect_refused', 1]);
  await faults('redirect=/v3/user/bid-management?rows=3, times=1');
  assert.equal((await client.listCalls({ rows: 3 })).records.length, 3);
  await noFaults();
});
await step('no server', async () => {
  const alone = createClient({ ...options, baseUrl: 'http://127.0.0.1:9', retry: { attempts: 1 } });
  await assert.rejects(() => alone.listCalls(), { code: 'connection_failed' });
  await alone.close();
});
await step('streams', async () => {
  const stream = createCallStream(client, { filter });
  await pipeline(stream, fileSink(join(folder, 'calls.csv'), { encode: toCsv() }));
  assert.equal(stream.verdict().proof, 'whole');
  assert.equal(
    readFileSync(join(folder, 'calls.csv'), 'utf8').trimEnd().split('\n').length,
    total + 1,
  );
  await faults('status=503, every=3');
  await createCallStream(client, { filter }).into(
    fileSink(join(folder, 'calls.ndjson'), { encode: toNdjson() }),
  );
  await noFaults();
  const lines = readFileSync(join(folder, 'calls.ndjson'), 'utf8').trimEnd().split('\n');
  assert.equal(new Set(lines.map((line) => JSON.parse(line).sid)).size, total);
  let counted = 0;
  const days = tumbling({ size: '1d', measures: { calls: count() } });
  for await (const row of createCallStream(client, { filter }).through(days)) counted += row.calls;
  assert.equal(counted, total);
});
await step('sync', async () => {
  const state = memoryState();
  for (const expected of [total, 0]) {
    let changed = 0;
    for await (const { kind } of syncCalls(client, { filter, state }))
      if (kind !== 'same') changed += 1;
    assert.equal(changed, expected);
  }
});
await step('close', async () => {
  await client.close();
  await assert.rejects(() => client.listCalls(), { code: 'client_closed' });
});
process.stdout.write(`${JSON.stringify(done)}\n`);
