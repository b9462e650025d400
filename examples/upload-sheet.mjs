// Makes an upload sheet for Google Ads: which calls are in it, and why the others are left out.
import assert from 'node:assert/strict';
import {
  conversions,
  createTally,
  sheetFormats,
  summaryLines,
  toSheet,
} from '@call-attribution/conversions';
import { apiKeys, createClient } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 500, to: '2026-11-01 00:00:00' });
const [account] = sandbox.accounts;
assert(account);
const auth = apiKeys(account.accessKey, account.secretKey);
const client = createClient({ baseUrl: sandbox.url, auth });

const format = sheetFormats['google-ads-clicks'];
/** @type {import('@call-attribution/conversions').ConversionRules} */
const rules = {
  timeZone: 'America/New_York',
  conversionName: 'Phone lead',
  value: (call) => (Number(call.talk_minutes) >= 5 ? 80 : 20),
  currency: 'USD',
  now: Date.parse('2026-11-01T12:00:00Z'),
};
const tally = createTally();
async function* counted() {
  for await (const change of conversions(createCallStream(client), rules, format)) {
    tally.add(change);
    yield change;
  }
}
/** @type {Uint8Array[]} */
const lines = [];
try {
  for await (const line of toSheet(format, rules)(counted())) lines.push(line);
} finally {
  await client.close();
  await sandbox.close();
}

const text = Buffer.concat(lines).toString();
const [zone, , row] = text.split('\r\n');
assert.equal(zone, 'Parameters:TimeZone=America/New_York,,,,');
assert.match(row ?? '', /^[\w-]+,Phone lead,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d-0400,(20|80)\.00,USD$/);
const { rows, leftOut } = tally.summary();
console.log(`${rows} conversions`);
for (const line of summaryLines(tally.summary(), format, rules)) console.log(line);
assert(leftOut.has('no_click_id') && leftOut.has('status_not_final'));
