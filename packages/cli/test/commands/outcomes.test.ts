import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from '../stage.ts';

interface Listed {
  readonly sid: string;
  readonly ani: string;
  readonly date_added: string;
  readonly ppc_campaign: string;
  readonly ppc_gclid: string;
  readonly ppc_status: string;
}

let stage: OwnStage;
let folder = '';
let store = '';
let sold: readonly Listed[] = [];

const run = (args: readonly string[], name = 'calls.config.json') => {
  const { CALLS_ACCESS_KEY = '', CALLS_SECRET_KEY = '' } = stage.env;
  const keys = { CALLS_KEY: CALLS_ACCESS_KEY, CALLS_SECRET: CALLS_SECRET_KEY };
  return stage.quick(args, { cwd: folder, env: { ...keys, CALLS_CONFIG: join(folder, name) } });
};
const file = (name: string, lines: readonly string[]) =>
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
const head = 'name,phone,date,amount,order id,status';
const saleOf = ({ ani, date_added }: Listed, value: string, id: string, status = 'won') =>
  `Ann,${ani},${date_added.slice(0, 10)} 23:59:59,${value},${id},${status}`;

beforeAll(async () => {
  stage = await openOwnStage({ records: 400, days: 20, to: '2026-11-21 07:00:00' });
  folder = stage.folder();
  store = `sqlite:${join(folder, 'calls.db')}`;
  writeFileSync(join(folder, 'calls.config.json'), '{}');
  expect((await run(['sync', '--store', store])).code).toBe(0);
  const list = ['list', '--all', '--include-extensions', '--json'];
  const all = JSON.parse((await run(list)).stdout) as Listed[];

  // Callers of one call, so that nobody has to guess which call a sale is of.
  const callers = new Map<string, number>();
  for (const { ani } of all) callers.set(ani, (callers.get(ani) ?? 0) + 1);
  sold = all.filter(
    ({ ani, date_added, ppc_gclid, ppc_status }) =>
      /^\d{11}$/.test(ani) &&
      callers.get(ani) === 1 &&
      date_added < '2026-11-20' &&
      ppc_gclid &&
      ppc_status === 'Processed',
  );
  expect(sold.length).toBeGreaterThan(3);
  const [one, two, three] = sold as [Listed, Listed, Listed];
  file('sales.csv', [
    head,
    saleOf(one, '100.50', 'D1'),
    saleOf(two, '200.25', 'D2'),
    saleOf(three, '50.00', 'D3', 'refunded'),
    'Bob,2125550999,2026-11-20,9.99,D4,',
  ]);
});
afterAll(() => stage.close());

const sales = ['--outcomes', 'sales.csv'];

describe.each([
  ['the API', () => [] as string[]],
  ['a copy', () => ['--store', store]],
])('calls report --outcomes, over %s', (_, where) => {
  test('counts what calls became, and says why others do not count', async () => {
    const { stdout, stderr } = await run([
      'report',
      '--by',
      'campaign',
      ...sales,
      '--json',
      ...where(),
    ]);
    const rows = JSON.parse(stdout) as { outcomes: number; revenue: number }[];
    expect(Object.keys(rows[0] ?? {})).toEqual([
      'ppc_campaign',
      'calls',
      'outcomes',
      'revenue',
      'revenue_per_call',
    ]);
    expect(rows.reduce((sum, { revenue }) => sum + revenue, 0)).toBe(300.75);
    expect(stderr).toContain(
      'sales.csv: phone from "phone", time from "date", value from "amount"',
    );
    expect(stderr).toContain(
      '2 of 4 outcomes belong to calls that are counted. Not counted: 1 cancelled or worth 0; 1 no_call (no call from this number is known before it).',
    );
  });

  test('--dry-run lists each with its call, and no number of a caller', async () => {
    const { stdout } = await run(['report', ...sales, '--dry-run', '--format', 'csv', ...where()]);
    const [one, two, three] = sold.map(({ sid, date_added }) => `${sid},${date_added}`);
    const lines = stdout.trim().split('\r\n');
    expect(lines[0]).toBe('place,time,value,currency,sid,date_added,why');
    expect(
      lines
        .slice(1)
        .map((line) => line.replace(/^"(.*?)",.*?,.*?,,(.*)$/, '$1 $2'))
        .sort(),
    ).toEqual([
      expect.stringMatching(`^sales.csv, row 2 ${one},$`),
      expect.stringMatching(`^sales.csv, row 3 ${two},$`),
      expect.stringMatching(`^sales.csv, row 4 ${three},cancelled$`),
      'sales.csv, row 5 ,,no_call',
    ]);
    for (const { ani } of sold) expect(stdout).not.toContain(ani.slice(1));
  });

  test('what the configuration file excludes is no customer', async () => {
    const [one] = sold as [Listed];
    const content = { definitions: { office: `ani = '${one.ani}'` }, exclude: 'office' };
    writeFileSync(join(folder, 'office.json'), JSON.stringify(content));
    const { stdout, stderr } = await run(
      ['report', '--by', 'channel', ...sales, '--json', ...where()],
      'office.json',
    );
    const rows = JSON.parse(stdout) as { revenue: number }[];
    expect(rows.reduce((sum, { revenue }) => sum + revenue, 0)).toBe(200.25);
    expect(stderr).toContain(
      '1 excluded (calls from this number do not count, as the exclusion says)',
    );
  });
});

test.each<[string, string[], string]>([
  [
    'nothing of it is measured',
    ['report', ...sales, '--measures', 'calls'],
    '--outcomes is given, and nothing is measured of it: add outcomes, revenue or revenue_per_call to --measures.',
  ],
  [
    'there is no file',
    ['report', '--measures', 'revenue'],
    'revenue is measured of what calls became later: give --outcomes.',
  ],
  [
    'a list is of no file',
    ['report', '--dry-run'],
    '--dry-run lists outcomes: it needs --outcomes FILE',
  ],
  [
    'an option says how a file is read that is not there',
    ['report', '--outcome-window', '7d'],
    '--outcome-window needs --outcomes FILE',
  ],
  [
    'the file is not there',
    ['report', '--outcomes', 'none.csv'],
    'none.csv: there is no such file',
  ],
  [
    'a list would be a page',
    ['report', ...sales, '--dry-run', '-o', 'x.html'],
    '--dry-run lists outcomes as a table, CSV or JSON, not as a page',
  ],
  [
    'there are two values',
    [
      'sheet',
      'google-ads-clicks',
      '-o',
      'x.csv',
      '--conversion-name',
      'Sale',
      ...sales,
      '--value',
      '5',
    ],
    '--value and --outcomes both give a value: remove --value',
  ],
  [
    'some calls are not read',
    [
      'sheet',
      'google-ads-clicks',
      '-o',
      'x.csv',
      '--conversion-name',
      'Sale',
      ...sales,
      '--where',
      "state = 'TX'",
    ],
    '--where does not go with --outcomes: without some calls an outcome would belong to another one',
  ],
  [
    'a tool has no place for values',
    ['sheet', 'skai', '-o', 'x.csv', ...sales],
    'takes calls without a value: it has no place for outcomes',
  ],
])('is refused where %s', async (_, args, message) => {
  const { code, stderr } = await run(args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test('a file that is cut is refused, and nothing is written', async () => {
  const [one] = sold as [Listed];
  file('cut.csv', [head, saleOf(one, '1.00', 'D1'), `Ann,${one.ani},2026-1`]);
  const args = ['sheet', 'google-ads-clicks', '-o', 'cut-sheet.csv', '--conversion-name', 'Sale'];
  const { code, stderr } = await run([...args, '--outcomes', 'cut.csv']);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('cut.csv, row 3: it ends before its last column'),
  ]);
  expect(stderr).not.toContain(one.ani);
  expect(existsSync(join(folder, 'cut-sheet.csv'))).toBe(false);
});

test('each of several accounts has a file of its own: a sale would be in the sheets of both', async () => {
  const { env } = stage;
  const keys = {
    baseUrl: env.CALLS_BASE_URL,
    accessKeyEnv: 'CALLS_KEY',
    secretKeyEnv: 'CALLS_SECRET',
  };
  const config = {
    timeZone: 'America/New_York',
    accounts: { one: keys, two: { ...keys, accessKeyEnv: 'CALLS_SECRET' } },
  };
  writeFileSync(join(folder, 'accounts.json'), JSON.stringify(config), { mode: 0o600 });
  const args = ['sheet', 'google-ads-clicks', '-o', '{account}.csv', '--conversion-name', 'Sale'];
  const shared = await run([...args, ...sales, '--all-accounts'], 'accounts.json');
  expect([shared.code, shared.stderr]).toEqual([
    2,
    expect.stringContaining('put {account} in the name: --outcomes sales-{account}.csv'),
  ]);
  const also = ['--all-accounts', '--outcomes', 'sales-{account}.csv,returns.csv'];
  expect((await run([...args, ...also], 'accounts.json')).stderr).toContain(
    '--outcomes returns.csv: each account has a file of its own',
  );
  file('sales-one.csv', [head, saleOf(sold[0] as Listed, '1.00', 'D1')]);
  const own = ['--all-accounts', '--outcomes', 'sales-{account}.csv'];
  const apart = await run([...args, ...own], 'accounts.json');
  expect(apart.stderr).toContain('one.csv: 1 conversion for Google Ads');
  expect(readFileSync(join(folder, 'one.csv'), 'utf8')).toContain(',1.00,');
});

describe('calls sheet --outcomes', () => {
  const sheet = (output: string, ...more: string[]) =>
    run(['sheet', 'google-ads-clicks', '-o', output, '--conversion-name', 'Sale', ...more]);
  const rowsOf = (name: string) =>
    readFileSync(join(folder, name), 'utf8').trim().split('\r\n').slice(2);

  test('writes sales once, corrects them, and takes back what was refunded', async () => {
    const [one, two] = sold as [Listed, Listed];
    const ledger = ['--ledger', 'sales.ledger'];
    const first = await sheet('first.csv', ...sales, ...ledger);
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('2 new conversions')]);
    const values = rowsOf('first.csv').map((row) => row.split(','));
    const day = ({ date_added }: Listed) => `${date_added.slice(0, 10)} 23:59:59-0500`;
    expect(values.sort()).toEqual(
      [
        [one.ppc_gclid, 'Sale', day(one), '100.50', ''],
        [two.ppc_gclid, 'Sale', day(two), '200.25', ''],
      ].sort(),
    );
    const known = readFileSync(join(folder, 'sales.ledger'), 'utf8');
    expect(known).not.toContain(one.ani.slice(1));
    expect(known).not.toContain('"D1"');

    file('later.csv', [head, saleOf(one, '120.00', 'D1'), saleOf(two, '', 'D2', 'void')]);
    const second = await sheet('second.csv', '--outcomes', 'later.csv', ...ledger);
    expect(second.stderr).toContain('2 adjustments (1 restated, 1 retracted)');
    const [adjusted = ''] = readdirSync(folder).filter((name) => /^second.+csv$/.test(name));
    expect(
      rowsOf(adjusted)
        .sort()
        .map((row) => row.split(',').slice(4)),
    ).toEqual(
      [one, two]
        .sort((a, b) => (a.ppc_gclid < b.ppc_gclid ? -1 : 1))
        .map((each) => (each === one ? ['RESTATE', '120.00', ''] : ['RETRACT', '', ''])),
    );

    const other = await sheet('calls.csv', '--min-talk', '0s', ...ledger);
    expect(other.stderr).toContain('the conversion "Sale" has got outcomes already');
    expect(other.code).toBe(2);
  });

  test.each([
    ['a file', () => 'refunds.ledger'],
    ['a store', () => store],
  ])('a refund that is read before its sale was sent is remembered in %s', async (_, where) => {
    const [one] = sold as [Listed];
    const at = (time: string, status: string) =>
      saleOf(one, '70.00', 'R1', status).replace('23:59:59', time);
    file('1.csv', [head, at('23:30', 'refunded')]);
    file('2.csv', [head, at('23:20', 'won')]);
    file('3.csv', [head, at('23:40', 'paid')]);
    const runs: string[] = [];
    for (const [run, name] of ['1', '2', '2', '3', '2'].entries()) {
      const args = ['--outcomes', `${name}.csv`, '--ledger', where()];
      const dry = await sheet(`refunds-${run}.csv`, ...args, '--dry-run');
      const { code, stderr } = await sheet(`refunds-${run}.csv`, ...args);
      expect([code, stderr]).toEqual([0, expect.stringMatching(/\d new conversion/)]);
      runs.push(/(?:add|left-out *\w*)$/m.exec(dry.stdout)?.[0].replace(/ +/, ' ') ?? dry.stdout);
      if (runs.at(-1) === 'left-out older_row')
        expect(stderr).toContain('1  older_row: a newer row of it was read before');
      rmSync(join(folder, `refunds-${run}.csv`), { force: true });
    }

    const older = 'left-out older_row';
    expect(runs).toEqual(['left-out cancelled', older, older, 'add', older]);
  });

  test('--left-out and --dry-run name the row, the call and the reason', async () => {
    await sheet('left.csv', ...sales, '--left-out', 'why.csv');
    const lines = readFileSync(join(folder, 'why.csv'), 'utf8');
    expect(lines).toContain('outcome,sid,date_added,reason,what it means');
    expect(lines).toContain(
      '"sales.csv, row 5",,,no_call,no call from this number is known before it',
    );
    const { stdout, stderr } = await sheet('dry.csv', ...sales, '--dry-run');
    expect(stdout).toMatch(/sales\.csv, row 5 .* left-out +no_call/);
    expect(stdout).toMatch(new RegExp(`sales\\.csv, row 2 .*${sold[0]?.sid}.* gclid +add`));
    expect(stderr).toContain('left out: 2 outcomes');
  });

  test('a push lists them as well', async () => {
    const args = ['push', 'google', '--customer', '123-456-7890', '--conversion-action', '9'];
    const { stdout, stderr, code } = await run([...args, ...sales, '--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/sales\.csv, row 2 .* gclid +add/);
    expect(stderr).toContain('dry run: 2 changes to send, 0 sent before');
  });
});
