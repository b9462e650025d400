// Reads the calls of two accounts at the same time, joins the cost of each campaign, and counts
// them by day.
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
  tumbling,
} from '@call-attribution/node-stream/operators';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 1500, accounts: 2, to: '2026-11-01 00:00:00' });
const clients = sandbox.accounts.map(({ accessKey, secretKey }) =>
  createClient({ baseUrl: sandbox.url, auth: apiKeys(accessKey, secretKey) }),
);

try {
  const filter = 'date_added:[2026-10-01 00:00:00 TO 2026-10-15 00:00:00},inc_gce:1';
  const costs = [{ ppc_campaign_id: '7001', costPerCall: 12.5 }];
  const streams = clients.map((client) => createCallStream(client, { filter }));

  const days = () =>
    tumbling({
      size: '1d',
      measures: {
        calls: count(),
        callers: distinct('ani'),
        minutes: sum('talk_minutes'),
        median: percentile('talk_minutes', 50),
      },
    });

  const talked = filterCalls('talk_minutes:[0.1 TO *]');
  const priced = join(costs, { on: 'ppc_campaign_id', as: 'cost' });
  const byAccount = await Promise.all(
    streams.map((stream) => stream.through(talked, priced, days()).toArray()),
  );
  const rows = byAccount.flat();

  const totals = await Promise.all(
    clients.map((client) => client.countCalls({ filter: `${filter},talk_minutes:[0.1 TO *]` })),
  );
  const expected = totals.reduce((all, { total }) => all + total, 0);
  assert.ok(expected > 0);
  assert.equal(
    rows.reduce((all, { calls }) => all + calls, 0),
    expected,
  );
  for (const account of byAccount) assert.ok(account.length > 1);
  for (const stream of streams) assert.equal(stream.verdict().proof, 'whole');
  console.log(`${expected} calls of ${clients.length} accounts in ${rows.length} rows of a day`);
} finally {
  for (const client of clients) await client.close();
  await sandbox.close();
}
