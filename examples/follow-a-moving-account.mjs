// New calls keep coming in, and their ad data changes hours later. A sync follows, and its copy
// equals the server's records.
import assert from 'node:assert/strict';
import { apiKeys, createClient } from '@call-attribution/core';
import { memoryState, syncCalls } from '@call-attribution/node-stream';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 300, days: 3 });
const [account] = sandbox.accounts;
assert(account);
const client = createClient({
  baseUrl: sandbox.url,
  version: 'v3',
  auth: apiKeys(account.accessKey, account.secretKey),
});
/** @type {Map<string, import('@call-attribution/core').Call>} */
const copy = new Map();
const state = memoryState();
const filter = 'inc_gce:1';

try {
  let changed = 0;
  for (const hours of [0, 1, 6]) {
    const { arrived } = await sandbox.advance(`${hours}h`);
    const before = copy.size;
    for await (const { kind, call } of syncCalls(client, { state, filter })) {
      if (kind === 'changed') changed += 1;
      copy.set(call.sid, call);
    }
    assert.equal(copy.size - before, hours === 0 ? 300 : arrived);
  }
  assert.ok(changed > 0, 'some ad data should have changed');
  for await (const call of client.listCalls({ filter })) assert.deepEqual(copy.get(call.sid), call);
  console.log(
    `${copy.size} calls in the copy, ${changed} changes seen, no difference from the server`,
  );
} finally {
  await client.close();
  await sandbox.close();
}
