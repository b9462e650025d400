// Makes an upload sheet for Google Ads: which calls are in it, and why the others are left out.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '@call-attribution/cli';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 500 });
const [account] = sandbox.accounts;
assert(account);
const cwd = mkdtempSync(join(tmpdir(), 'sheet-'));
const env = {
  CALLS_BASE_URL: sandbox.url,
  CALLS_ACCESS_KEY: account.accessKey,
  CALLS_SECRET_KEY: account.secretKey,
  CALLS_TIME_ZONE: 'America/New_York',
};
const { stdin, stdout, stderr } = process;
const now = () => new Date('2026-11-01T12:00:00Z');
const signal = new AbortController().signal;
try {
  const args = [
    '--for',
    'google-ads-clicks',
    '--conversion-name',
    'Phone lead',
    '--value',
    '25',
    '--currency',
    'USD',
  ];
  const files = ['--to', 'clicks.csv', '--left-out', 'left-out.csv'];
  assert.equal(await run(['export', ...args, ...files], { stdin, stdout, stderr, env, cwd, now, signal }), 0);

  const sheet = readFileSync(join(cwd, 'clicks.csv'), 'utf8').trimEnd().split('\r\n');
  assert.equal(sheet[0], 'Parameters:TimeZone=America/New_York,,,,');
  assert.match(sheet[2] ?? '', /^[\w-]+,Phone lead,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d-0400,25\.00,USD$/);
  const leftOut = readFileSync(join(cwd, 'left-out.csv'), 'utf8').trimEnd().split('\r\n').slice(1);
  const reasons = new Set(leftOut.map((line) => line.split(',')[2]));
  assert(reasons.has('no_click_id') && reasons.has('status_not_final'));
} finally {
  await sandbox.close();
  rmSync(cwd, { recursive: true });
}
