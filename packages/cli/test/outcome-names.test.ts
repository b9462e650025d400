import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from './stage.ts';

let stage: OwnStage;
let folder = '';
let row = '';

const calls = (config: string, ...args: readonly string[]) =>
  stage.quick(args, {
    cwd: folder,
    env: {
      CALLS_CONFIG: join(folder, config),
      CALLS_TIME_ZONE: 'UTC',
      CALLS_KEY: 'one',
      CALLS_SECRET: 'secret',
    },
  });
const report = (...args: readonly string[]) =>
  calls('calls.config.json', 'report', '--period', '2026-10', '--by', 'month', ...args);

beforeAll(async () => {
  stage = await openOwnStage({ records: 400, days: 30, to: '2026-11-10 07:00:00' });
  folder = stage.folder();
  mkdirSync(join(folder, 'files'));
  writeFileSync(join(folder, 'none.json'), '{}');
  const { stdout } = await calls('none.json', 'list', '--period', '2026-10', '--json', '--all');
  const called = JSON.parse(stdout) as Record<
    'ani' | 'date_added' | 'ppc_gclid' | 'ppc_status',
    string
  >[];
  const one = called.find(
    ({ ani, ppc_gclid, ppc_status }) =>
      /^\d{11}$/.test(ani) && ppc_gclid && ppc_status === 'Processed',
  );
  const [year, month, day] = (one?.date_added ?? '').slice(0, 10).split('-');
  row = `${one?.ani},${day}/${month}/${year} 23:59,250.00`;
  writeFileSync(join(folder, 'files', 'sales.csv'), `phone,time,value\n${row}\n`);
  // The 10th of November or the 11th of October, and headings in another language.
  writeFileSync(
    join(folder, 'files', 'either.csv'),
    `phone,time,value\n${one?.ani},11/10/2026 23:59,70.00\n`,
  );
  writeFileSync(join(folder, 'files', 'kosten.csv'), 'Kampagne,Kosten\nBrand,12.50\n');
  const byMonth = { by: 'month', period: '2026-10' };
  const config = {
    outcomes: {
      sales: { file: 'files/sales.csv', dates: 'dmy' },
      either: 'files/either.csv',
      gone: 'files/gone.csv',
    },
    spend: { kosten: 'files/kosten.csv' },
    reports: {
      sold: { ...byMonth, outcomes: 'sales' },
      dated: { ...byMonth, outcomes: 'either', 'outcome-dates': 'mdy' },
      undated: { ...byMonth, outcomes: 'either' },
      cost: {
        by: 'campaign',
        measures: 'calls,spend',
        period: '2026-10',
        'include-extensions': true,
        spend: 'kosten',
        'spend-columns': 'campaign=Kampagne,cost=Kosten',
      },
    },
  };
  writeFileSync(join(folder, 'calls.config.json'), JSON.stringify(config));
});
afterAll(() => stage.close());

describe('--outcomes with a name of the configuration', () => {
  test('reads the file beside the configuration, with the order of its dates', async () => {
    const { stdout, stderr, code } = await report('--outcomes', 'sales', '--json');
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)[0]).toMatchObject({ outcomes: 1, revenue: 250 });
    expect(stderr).toContain('sales: phone from "phone", time from "time", value from "value"');
  });
  test('is that of a report which names it, and of an upload sheet', async () => {
    const { stdout, stderr } = await calls('calls.config.json', 'report', 'sold', '--json');
    expect(JSON.parse(stdout)[0], stderr).toMatchObject({ outcomes: 1, revenue: 250 });
    const typed = ['google-ads-clicks', '--conversion-name', 'Sale', '-o', 'sale.csv'];
    const sheet = await calls('calls.config.json', 'sheet', ...typed, '--outcomes', 'sales');
    expect([sheet.code, sheet.stderr]).toEqual([
      0,
      expect.stringMatching(/1 conversion|1 outcome/),
    ]);
    const asked = ['--outcomes', 'sales', '--outcome-window', '7d', '--json-definition'];
    expect(JSON.parse((await report(...asked)).stdout).reports.weekly).toMatchObject({
      outcomes: 'sales',
      'outcome-window': '7d',
    });
  });
  test.each([
    [['--outcomes', 'sale'], 'there are no outcomes called sale in the configuration'],
    [['--outcomes', 'sale'], 'it has sales, either, gone; a file is named with its extension'],
    [['--outcomes', 'gone'], `${join('files', 'gone.csv')}: there is no such file`],
    [['--outcomes', './sales'], './sales: there is no such file'],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await report(...args);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([2, '']);
  });
});

test('an assistant asks by the name, and gets no number', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const config = join(folder, 'calls.config.json');
  const own = { CALLS_CONFIG: config, CALLS_TIME_ZONE: 'UTC', HOME: folder };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [stage.bin, 'mcp', '--memory'],
      env: { PATH: process.env.PATH ?? '', ...stage.env, ...own },
      stderr: 'ignore',
    }),
  );
  const analyzed = async (args: Record<string, unknown>) =>
    JSON.stringify(await client.callTool({ name: 'analyze_calls', arguments: args }));
  const asked = (outcomes: string) =>
    analyzed({ period: '2026-10', group_by: 'campaign', calls: 'all', outcomes });
  const answer = await asked('sales');
  expect(answer).toMatch(/"totals":\{[^}]*"outcomes":1,"revenue":250[,}]/);
  const number = row.slice(0, row.indexOf(','));
  expect(answer).not.toContain(number.slice(-7));
  expect(await asked('gone')).toContain('cannot be used: gone: there is no such file');
  expect(await asked('files/sales.csv')).toContain('no outcomes called');

  // A report is read with the options that it has in the terminal.
  for (const [name, sum] of [
    ['dated', { outcomes: 1, revenue: 70 }],
    ['cost', { spend: 12.5 }],
  ] as const) {
    const { stdout } = await calls('calls.config.json', 'report', name, '--json');
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining(sum));
    const totals = /"totals":(\{[^}]*\})/.exec(await analyzed({ report: name }))?.[1] ?? '{}';
    expect(JSON.parse(totals), name).toMatchObject(sum);
  }
  expect(await analyzed({ report: 'undated' })).toContain('may begin with the day or the month');
  await client.close();
});

test('accounts that share a file are one question, and those with files of their own are not', async () => {
  const { env } = stage;
  const keys = {
    baseUrl: env.CALLS_BASE_URL,
    accessKeyEnv: 'CALLS_KEY',
    secretKeyEnv: 'CALLS_SECRET',
  };
  const asked = async (own: Readonly<Record<string, object>>, outcomes: object = {}) => {
    const accounts = {
      one: { ...keys, ...own.one },
      two: { ...keys, accessKeyEnv: 'CALLS_SECRET', ...own.two },
    };
    writeFileSync(join(folder, 'two.json'), JSON.stringify({ accounts, outcomes }), {
      mode: 0o600,
    });
    const args = ['report', '--all-accounts', '--period', '2026-10', '--outcomes', 'sales'];
    return calls('two.json', ...args);
  };
  const named = { outcomes: { sales: { file: 'files/sales.csv', dates: 'dmy' } } };
  expect((await asked({ one: named })).stderr).toContain(
    'account two has no outcomes called sales, and other accounts do',
  );
  expect((await asked({ one: named, two: { outcomes: { sales: 'two.csv' } } })).stderr).toContain(
    'each account has a file of its own for the outcomes called sales',
  );

  // A sheet is of one account.
  const sheet = () =>
    calls(
      'two.json',
      ...['sheet', 'google-ads-clicks', '--all-accounts', '--outcomes', 'sales'],
      ...['--conversion-name', 'Sale', '-o', '{account}.csv'],
    );
  expect((await sheet()).stderr).not.toContain('of its own');
  await asked({}, named.outcomes);
  expect((await sheet()).stderr).toContain(
    '--outcomes sales: each account has a file of its own\n  → put {account} in the name: --outcomes sales-{account}.csv\n  → or give each',
  );
});

test('an order of dates that a report cannot have is refused', async () => {
  const report = { outcomes: 'either', 'outcome-dates': 'us' };
  writeFileSync(join(folder, 'us.json'), JSON.stringify({ reports: { sold: report } }));
  const { code, stderr } = await calls('us.json', 'report', 'sold');
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('reports.sold.outcome-dates must be dmy, mdy or ymd'),
  ]);
});

test.each([
  [{ outcomes: 'sales.csv' }, '"outcomes" must be an object of files by their names'],
  [{ outcomes: { sales: { file: 'sales.csv', dates: 'us' } } }, 'where dates is dmy, mdy or ymd'],
  [
    { outcomes: { sales: { columns: 'a' } } },
    'outcomes.sales must be a file, or an object with "file" and "dates"',
  ],
  [{ accounts: { one: { outcomes: { 'a b': 'a.csv' } } } }, 'outcomes "a b": a name is letters'],
])('%j is refused where it is read', async (config, message) => {
  writeFileSync(join(folder, 'wrong.json'), JSON.stringify(config));
  const { stdout, stderr } = await calls('wrong.json', 'doctor');
  expect(`${stdout}${stderr}`).toContain(message);
});
