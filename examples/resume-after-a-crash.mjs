// An export is killed in the middle. The next run resumes from the checkpoint, and each call
// arrives exactly once.
import assert from 'node:assert/strict';
import { bearerToken, createClient } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 2000 });
const [account] = sandbox.accounts;
assert(account);
const client = createClient({
  baseUrl: sandbox.url,
  version: 'v2',
  auth: bearerToken(account.bearerToken),
});
/** @type {string[]} */
const written = [];

try {
  let saved = 'null';
  for await (const { items, checkpoint } of createCallStream(client, { rows: 100 }).pages()) {
    written.push(...items.map(({ sid }) => sid));
    saved = JSON.stringify(checkpoint); // with the page, or after it
    if (written.length > 777) break; // the crash
  }
  const checkpoint = JSON.parse(saved);

  const second = createCallStream(client, { rows: 100, checkpoint });
  for await (const call of second) written.push(call.sid);

  assert.equal(second.verdict().proof, 'whole');
  assert.equal(written.length, 2000);
  assert.equal(new Set(written).size, 2000);
  console.log('2000 calls in two runs, none lost, none twice');
} finally {
  await client.close();
  await sandbox.close();
}
