import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createService } from '@call-attribution/service';
import { readTable } from '@call-attribution/settings/tables';
import { openStore } from '@call-attribution/store';
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterAll, expect, test } from 'vitest';
import { openStage } from './stage.ts';

const stage = openStage();
const keys = {
  accessKey: 'test_access_1',
  secretKey: 'test_secret_1',
  bearerToken: 'test_bearer_1',
};
const store = await openStore('sqlite::memory:');
await store.putAccount({ id: '1', name: 'Sheets' });
await store.upsert('1', [
  callWith({
    sid: '1730000000001',
    ani: '0123456789012',
    ppc_campaign: '=1+1',
    talk_minutes: '2.5',
  }),
  callWith({ sid: '1730000000002', date_added: '2026-11-18 15:03:07', ppc_campaign: 'a\u0001<b>' }),
]);
const service = createService({ store, accounts: [{ id: '1', name: 'Sheets', ...keys }] });
const { url } = await service.listen();
const env = {
  CALLS_BASE_URL: url,
  CALLS_ACCESS_KEY: keys.accessKey,
  CALLS_SECRET_KEY: keys.secretKey,
};
afterAll(async () => {
  await service.close();
  await store.close();
});

const cellsOf = async (path: string) => (await readTable(path)).map(({ cells }) => cells);
const sheetOf = (path: string): string =>
  execFileSync('unzip', ['-p', path, 'xl/worksheets/sheet1.xml', 'xl/sharedStrings.xml'], {
    encoding: 'utf8',
  });

test('calls in an Excel file: session IDs and numbers are text, times are times, nothing is a formula', async () => {
  const cwd = stage.folder();
  const fields = ['--fields', 'sid,date_added,ani,talk_minutes,ppc_campaign'];
  const run = await stage.quick(['export', '-o', 'calls.xlsx', ...fields], { cwd, env });
  expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(/complete: .*2 calls/)]);
  const path = join(cwd, 'calls.xlsx');
  expect(await cellsOf(path)).toEqual([
    ['sid', 'date_added', 'ani', 'talk_minutes', 'ppc_campaign'],
    ['1730000000001', '2026-11-18 14:03:00', '0123456789012', 2.5, '=1+1'],
    ['1730000000002', '2026-11-18 15:03:07', '2025550123', 6, expect.stringMatching(/^a.?<b>$/)],
  ]);

  // s: a shared text. A cell without a kind is a number, and a time is one with a format.
  const sheet = sheetOf(path);
  expect(sheet).toMatch(/<c r="A2" t="s">.*<c r="B2" s="\d"><v>46344\.5854.*<c r="C2" t="s">/);
  expect(sheet).toMatch(/<c r="D2"><v>2\.5<.*<c r="E2" t="s">/);
  expect(sheet).not.toContain('<f>');
  expect(sheet).not.toContain('\u0001');
});

test('a report in an Excel file has its figures as numbers and its days as days', async () => {
  const cwd = stage.folder();
  const args = ['report', '--by', 'day', '--period', '2026-11-18', '-o', 'report.xlsx'];
  const run = await stage.quick(args, { cwd, env });
  expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(/wrote report\.xlsx/)]);
  const path = join(cwd, 'report.xlsx');
  expect(await cellsOf(path)).toEqual([
    ['day', 'calls', 'share', 'missed', 'talk_mean'],
    ['2026-11-18', 2, 1, 0, 4.25],
  ]);
  expect(sheetOf(path)).toMatch(/<c r="A2" s="\d"><v>46344<\/v>/);
});

test.each([
  ['export -o - --format xlsx', /an Excel file cannot be written to stdout/],
  ['export -o x.xlsx.gz', /an Excel file is already compressed/],
  ['export -o x.xlsx --resume', /an Excel file cannot be continued in its middle/],
  ['export -o x.xlsx --receipt', /calls verify cannot read an Excel file/],
  ['verify x.xlsx', /x\.xlsx: an Excel file is for people/],
])('%s is refused', async (line, reason) => {
  const cwd = stage.folder();
  writeFileSync(join(cwd, 'x.xlsx'), '');
  const { code, stderr } = await stage.quick(line, { cwd, env });
  expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
});
