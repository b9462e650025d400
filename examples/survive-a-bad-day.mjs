// The server cuts responses short and fails with errors and HTML pages. The client still gets every
// call, and counts its retries.
import assert from 'node:assert/strict';
import { tracingChannel } from 'node:diagnostics_channel';
import { apiKeys, createClient } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 1000 });
const [account] = sandbox.accounts;
assert(account);
const client = createClient({
  baseUrl: sandbox.url,
  version: 'v3',
  auth: apiKeys(account.accessKey, account.secretKey),
  retry: { attempts: 6, baseDelay: 10, maxDelay: 50 },
});
let retries = 0;
// A client waits before it sends a request again.
tracingChannel('call-attribution:wait').start.subscribe(() => retries++);

try {
  sandbox.faults.set(account.accessKey, [
    { status: 503, times: 2 },
    { cut: 0.5, after: 2, times: 2 },
    { html: true, after: 4, times: 1 },
  ]);
  const calls = createCallStream(client, { rows: 100 });
  const sids = new Set();
  for await (const call of calls) sids.add(call.sid);

  const { total } = await client.countCalls();
  assert.equal(sids.size, total);
  assert.equal(calls.verdict().proof, 'whole');
  assert.ok(retries >= 5, `expected at least 5 retries, saw ${retries}`);
  console.log(`${sids.size} calls after ${retries} retries`);
} finally {
  await client.close();
  await sandbox.close();
}
