// Makes an upload sheet for Google Ads: which calls are in it, and why the others are left out.
import assert from 'node:assert/strict';
import { createSheet, reasonTexts, sheetFormats } from '@call-attribution/conversions';
import { apiKeys, createClient } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 500, until: '2026-11-01 00:00:00' });
const [account] = sandbox.accounts;
assert(account);
const auth = apiKeys(account.accessKey, account.secretKey);
const client = createClient({ baseUrl: sandbox.url, auth });

const sheet = createSheet(sheetFormats['google-ads-clicks'], {
  timeZone: 'America/New_York',
  conversionName: 'Phone lead',
  value: (call) => (Number(call.talk_minutes) >= 5 ? 80 : 20),
  currency: 'USD',
  now: Date.parse('2026-11-01T12:00:00Z'),
});
/** @type {Map<string, number>} */
const leftOut = new Map();
try {
  for await (const call of createCallStream(client)) {
    const reason = sheet.add(call);
    if (reason) leftOut.set(reasonTexts[reason], (leftOut.get(reasonTexts[reason]) ?? 0) + 1);
  }
} finally {
  await client.close();
  await sandbox.close();
}

assert.deepEqual(sheet.check(), []);
const [zone, , row] = sheet.lines();
assert.equal(zone, 'Parameters:TimeZone=America/New_York,,,,\r\n');
assert.match(row ?? '', /^[\w-]+,Phone lead,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d-0400,(20|80)\.00,USD\r\n$/);
console.log(`${sheet.rows} conversions; left out:`, Object.fromEntries(leftOut));
assert(leftOut.has(reasonTexts.no_click_id) && leftOut.has(reasonTexts.status_not_final));
