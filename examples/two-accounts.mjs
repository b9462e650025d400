// Reads the calls of two accounts, joins the cost of each campaign, and counts by day.
import assert from 'node:assert/strict';
import { apiKeys, createClient } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import {
  count,
  distinct,
  filterCalls,
  join,
  percentile,
  sum,
  through,
  tumbling,
} from '@call-attribution/node-stream/operators';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 1500, accounts: 2, to: '2026-11-01 00:00:00' });
const clients = sandbox.accounts.map(({ accessKey, secretKey }) =>
  createClient({ baseUrl: sandbox.url, auth: apiKeys(accessKey, secretKey) }),
);

try {
  const filter = 'date_added:[2026-10-01 00:00:00 TO 2026-10-15 00:00:00},inc_gce:1';
  const costs = new Map([['7001', { costPerCall: 12.5 }]]);
  const streams = clients.map((client) => createCallStream(client, { filter }));

  const days = tumbling({
    size: '1d',
    measures: {
      calls: count(),
      accounts: distinct('acct_id'),
      minutes: sum('talk_minutes'),
      median: percentile('talk_minutes', 50),
    },
  });

  const talked = filterCalls('talk_minutes:[0.1 TO *]');
  const priced = join(costs, { on: 'ppc_campaign_id' });
  async function* bothAccounts() {
    for (const stream of streams) yield* stream;
  }
  const rows = await through(bothAccounts(), talked, priced, days).toArray();

  const totals = await Promise.all(
    clients.map((client) => client.countCalls({ filter: `${filter},talk_minutes:[0.1 TO *]` })),
  );
  const expected = totals.reduce((all, { total }) => all + total, 0);
  assert.ok(expected > 0);
  assert.equal(
    rows.reduce((all, { calls }) => all + calls, 0),
    expected,
  );
  const froms = rows.map(({ from }) => from);
  assert.deepEqual(froms, [...froms].sort());
  assert.ok(rows.some(({ accounts }) => accounts === 2));
  for (const stream of streams) assert.equal((await stream.verdict).proof, 'whole');
  console.log(`${expected} calls of ${clients.length} accounts on ${rows.length} days, in order`);
} finally {
  for (const client of clients) await client.close();
  await sandbox.close();
}
