// A filter typed by a person is fixed, sent to the server, and run on records, always with the same
// result.
import assert from 'node:assert/strict';
import { apiKeys, createClient } from '@call-attribution/core';
import {
  applyFix,
  explain,
  matcher,
  parse,
  printFilter,
  safeParse,
} from '@call-attribution/query-dsl';
import { startSandbox } from '@call-attribution/sandbox';

const typed = 'talk_minutes:[2 to 5]';
const result = safeParse(typed);
assert(!result.ok);
const fixed = applyFix(typed, result.problem);
assert.equal(fixed, 'talk_minutes:[2 TO 5]');

const sandbox = await startSandbox({ records: 500 });
const [account] = sandbox.accounts;
assert(account);
const client = createClient({
  baseUrl: sandbox.url,
  version: 'v3',
  auth: apiKeys(account.accessKey, account.secretKey),
});
try {
  const filter = parse(fixed);
  const byServer = [];
  for await (const call of client.listCalls({ filter })) byServer.push(call);
  const all = [];
  for await (const call of client.listCalls()) all.push(call);
  const byPredicate = all.filter(matcher(filter));
  assert.deepEqual(byPredicate, byServer);
  console.log(
    `${explain(filter)} ${printFilter(filter)}: ${byServer.length} of ${all.length} calls`,
  );
} finally {
  await client.close();
  await sandbox.close();
}
