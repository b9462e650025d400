// Keeps a copy of the calls up to date and serves it with the same API. Only new and changed calls
// are written.
import assert from 'node:assert/strict';
import { apiKeys, createClient } from '@call-attribution/core';
import { syncInto } from '@call-attribution/node-stream';
import { startSandbox } from '@call-attribution/sandbox';
import { createService } from '@call-attribution/service';
import { mirrorSink, openStore } from '@call-attribution/store';

const origin = await startSandbox({ records: 1500 });
const [account] = origin.accounts;
assert(account);
const auth = apiKeys(account.accessKey, account.secretKey);
const client = createClient({ baseUrl: origin.url, version: 'v3', auth });

const store = await openStore('sqlite::memory:');
const mirror = createService({ store, accounts: [account] });
try {
  const { url } = await mirror.listen();
  const sink = mirrorSink(store, account.id);
  const filter = 'inc_gce:1';

  const first = await syncInto(client, sink, { filter });
  assert.equal(first.new, 1500);
  const second = await syncInto(client, sink, { filter });
  assert.equal(second.new, 0);

  const copy = createClient({ baseUrl: url, version: 'v3', auth });
  assert.equal((await copy.countCalls({ filter })).total, 1500);
  const { sid } = (await copy.listCalls({ rows: 1 })).records[0] ?? {};
  assert(sid);
  assert.deepEqual(await copy.getCall(sid), await client.getCall(sid));
  await copy.close();
  console.log(
    `${first.new} calls mirrored; the second run met ${second.same} again and sent none on`,
  );
} finally {
  await client.close();
  await mirror.close();
  await store.close();
  await origin.close();
}
