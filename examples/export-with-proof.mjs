// Streams a month of calls into a CSV file; the verdict proves that none is missing.
import assert from 'node:assert/strict';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { apiKeys, createClient } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { toCsv } from '@call-attribution/node-stream/encoders';
import { where } from '@call-attribution/query-dsl';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 3000, to: '2026-11-01 00:00:00' });
const [account] = sandbox.accounts;
assert(account);
const client = createClient({
  baseUrl: sandbox.url,
  version: 'v3',
  auth: apiKeys(account.accessKey, account.secretKey),
});
const folder = await mkdtemp(join(tmpdir(), 'example-'));
const file = join(folder, 'calls.csv');

try {
  const filter = where('date_added').from('2026-10-01 00:00:00').before('2026-11-01 00:00:00');
  const { total } = await client.countCalls({ filter });

  const calls = createCallStream(client, { filter });
  await pipeline(calls, toCsv(), createWriteStream(file));
  const verdict = calls.verdict();

  assert.equal(verdict.proof, 'whole');
  assert.ok(total > 0);
  assert.equal(verdict.proved, total);
  assert.match(await readFile(file, 'utf8'), /^[a-z_]+(,[a-z0-9_]+)+\r\n/);
  console.log(`${verdict.proved} calls in calls.csv, as many as the server has`);
} finally {
  await client.close();
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
}
