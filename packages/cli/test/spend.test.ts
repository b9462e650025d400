import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from './stage.ts';

// The files are as Google Ads and Microsoft Advertising let people download them.
const fixtures = join(import.meta.dirname, 'fixtures', 'spend');

let stage: OwnStage;
let folder = '';

const calls = (...args: readonly string[]) =>
  stage.quick(args, {
    cwd: folder,
    env: { CALLS_CONFIG: join(folder, 'calls.config.json'), CALLS_TIME_ZONE: 'UTC' },
  });
const report = (...args: readonly string[]) =>
  calls('report', '--period', '2026-10', '--measures', 'calls', ...args);

/** The rows of a report that something was spent on: the group, calls and spend. */
async function spent(...args: readonly string[]) {
  const { stdout, stderr, code } = await report('--json', ...args);
  expect(code, stderr).toBe(0);
  const rows = JSON.parse(stdout) as { calls: number; spend: number | null }[];
  return rows.flatMap((row) =>
    row.spend === null ? [] : [[Object.values(row)[0], row.calls > 0, row.spend]],
  );
}

beforeAll(async () => {
  stage = await openOwnStage({ records: 1200, days: 60, to: '2026-11-10 07:00:00' });
  folder = stage.folder();
  for (const name of ['google-campaigns', 'google-keywords', 'google-german', 'microsoft'])
    copyFileSync(join(fixtures, `${name}.csv`), join(folder, `${name}.csv`));
  const config = {
    spend: { google: 'google-campaigns.csv', bing: 'microsoft.csv' },
    reports: { cost: { by: 'campaign', spend: 'google' } },
  };
  writeFileSync(join(folder, 'calls.config.json'), JSON.stringify(config));
});
afterAll(() => stage.close());

const campaigns = [
  ['Harbor Dental | Generic', true, 4390.1],
  ['Harbor Dental | Brand', true, 1033.33],
  ['Harbor Dental | Remarketing', true, 80.08],
  ['Harbor Dental | Implants TX', false, 1250],
];

describe('calls report --spend', () => {
  test('reads a download of Google Ads: what had no call is a row, and in the total', async () => {
    const { stdout, stderr } = await report('--by', 'campaign', '--spend', 'google-campaigns.csv');
    expect(stdout).toMatch(/Implants TX\s+0\s+1,250\.00/);
    expect(stdout).toMatch(/All calls\s+\d+\s+6,753\.51/);
    expect(stderr).toContain(
      'google-campaigns.csv: 4 amounts in USD, campaign from "Campaign" and cost from "Cost"; 3 rows of totals are left out; it names no time zone',
    );
    expect(stderr).toContain("no call for 'Harbor Dental | Implants TX' (1,250.00)");
    expect(await spent('--by', 'campaign', '--spend', 'google-campaigns.csv')).toEqual(campaigns);
  });
  test('adds up keywords by their text, whatever their match type, in UTF-16', async () => {
    const args = ['--spend', 'google-keywords.csv'];
    expect(await spent('--by', 'keyword', ...args, '--order', 'spend desc')).toEqual([
      ['emergency dentist', true, 1086.58],
      ['dental implants cost', true, 98.7],
      ['night guard', false, 15],
    ]);
    expect(await spent('--by', 'campaign', ...args)).toEqual([
      ['Harbor Dental | Generic', true, 1200.28],
    ]);
  });
  test('adds up the devices of Microsoft Advertising, and is divided by week', async () => {
    const { stderr } = await report('--by', 'campaign', '--spend', 'microsoft.csv', '--json');
    expect(stderr).toContain('its days are those of (GMT-05:00) Eastern Time (US & Canada).');
    expect(
      await spent(
        '--by',
        'week,campaign',
        '--spend',
        'microsoft.csv',
        '--order',
        'week,spend desc',
      ),
    ).toEqual([
      ['2026-09-28', true, 1226.36],
      ['2026-09-28', true, 61.9],
      ['2026-10-05', true, 55],
    ]);
  });
  test('reads headings and numbers of another language', async () => {
    const columns = 'campaign=Kampagne,cost=Kosten,day=Tag,currency=Währungscode';
    const args = ['--by', 'campaign', '--spend', 'google-german.csv'];
    expect(await spent(...args, '--spend-columns', columns)).toEqual([
      ['Harbor Dental | Brand', true, 1054.83],
    ]);
    const { code, stderr } = await report(...args);
    expect(code).toBe(2);
    expect(stderr).toContain('google-german.csv: no row has headings such as Campaign and Cost');
  });
  test('takes names of the configuration file, in a named report too, and adds files up', async () => {
    expect(await spent('--by', 'campaign', '--spend', 'google')).toEqual(campaigns);
    const named = await calls(
      'report',
      'cost',
      '--period',
      '2026-10',
      '--measures',
      'calls',
      '--json',
    );
    expect(named.stdout).toContain('"calls":0,"spend":1250');
    expect(
      await spent('--by', 'campaign', '--spend', 'google,bing', '--order', 'spend desc'),
    ).toEqual([
      ['Harbor Dental | Generic', true, 4507],
      ['Harbor Dental | Brand', true, 2259.69],
      ['Harbor Dental | Implants TX', false, 1250],
      ['Harbor Dental | Remarketing', true, 80.08],
    ]);
  });
  test.each<[string, readonly string[], string]>([
    [
      'an unknown name',
      ['--by', 'campaign', '--spend', 'gogle'],
      'it has google, bing; a file is named with its extension: --spend gogle.csv',
    ],
    [
      'a missing file',
      ['--by', 'campaign', '--spend', 'none.csv'],
      'none.csv: there is no such file',
    ],
    [
      'another group',
      ['--by', 'city', '--spend', 'google'],
      '--spend goes with campaign, ad_group or keyword in --by, alone or with one of day, week and month',
    ],
    [
      'a finer group',
      ['--by', 'keyword', '--spend', 'google'],
      'google-campaigns.csv says what was spent on campaigns, not on keywords',
    ],
    [
      'days that the file lacks',
      ['--by', 'campaign,day', '--spend', 'google'],
      'google-campaigns.csv has no column of days',
    ],
    [
      'another period',
      ['--by', 'campaign', '--spend', 'google', '--period', '2026-09'],
      'google-campaigns.csv is of 2026-10-01 to 2026-10-31 and has no column of days, and the period is from 2026-09-01',
    ],
    [
      'cost per call of a condition',
      ['--by', 'campaign', '--spend', 'google', '--where', 'missed', '--order', 'cost_per_call'],
      'Cost per call is not given with a condition',
    ],
    [
      'columns of no file',
      ['--by', 'campaign', '--spend-columns', 'cost=Kosten'],
      '--spend-columns says how the file of --spend is read',
    ],
  ])('refuses %s', async (_, args, message) => {
    const typed = args.includes('--period') ? args : ['--period', '2026-10', ...args];
    const { code, stdout, stderr } = await calls('report', ...typed);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([2, '']);
  });
  test('a comparison says that the file is not of the period before, and nothing of changes of spend', async () => {
    const args = ['--by', 'campaign', '--spend', 'google', '--compare', 'previous'];
    const { stdout, stderr } = await report(...args);
    expect(stderr).toContain('google-campaigns.csv is not of the period compared with');
    expect(stderr).toContain('compare the change per day of calls');
    expect(stdout.match(/before/g)).toHaveLength(1);
  });
  test('a row that is refused is named with its file', async () => {
    const twice = readFileSync(join(folder, 'microsoft.csv'), 'utf8').replaceAll(
      'Smartphone',
      'Computer',
    );
    mkdirSync(join(folder, 'more'), { recursive: true });
    writeFileSync(join(folder, 'more', 'twice.csv'), twice);
    const { stderr } = await report('--by', 'campaign', '--spend', 'more/twice.csv');
    expect(stderr).toContain(
      'twice.csv, row 13: row 12 says what was spent on the same, Harbor Dental | Brand, 10/1/2026: remove one',
    );
  });
});

test('the commands of the guide end well, with files as it says', async () => {
  const guide = readFileSync(
    join(import.meta.dirname, '../../../docs/guides/what-a-keyword-earns.md'),
    'utf8',
  );
  const [json = ''] = /(?<=```json\n)[^`]+/.exec(guide) ?? [];
  writeFileSync(join(folder, 'calls.config.json'), json);
  const days = Array.from({ length: 61 }, (_, i) =>
    new Date(Date.UTC(2026, 8, 1 + i)).toISOString().slice(0, 10),
  );
  const rows = days.map((day) => `${day},Harbor Dental | Brand,USD,10.50`);
  const head = 'Campaign report\n"September 1, 2026 - October 31, 2026"\n';
  writeFileSync(
    join(folder, 'google.csv'),
    `${head}Day,Campaign,Currency code,Cost\n${rows.join('\n')}\n`,
  );
  copyFileSync(join(fixtures, 'google-keywords.csv'), join(folder, 'keywords.csv'));
  const commands = [...guide.matchAll(/^calls (report (?!.*--outcomes).*)$/gm)].map(
    ([, text = '']) =>
      [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word),
  );
  expect(commands).toHaveLength(5);
  for (const args of commands) {
    const { code, stdout, stderr } = await calls(...args);
    expect([0, 9], stderr).toContain(code);
    expect(stdout).not.toBe('');
  }
});
