import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createService, type Service } from '@call-attribution/service';
import { openStore, type Store } from '@call-attribution/store';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from './stage.ts';

const now = new Date('2026-11-02T12:00:00Z');

/** Two accounts of one configuration file, the second without an ID, and copies of them. */
let stage: OwnStage;
let folder = '';
let idOfMain = '';
let idOfBoston = '';
const env: Record<string, string> = {};
const stores = { both: '', one: '' };

/** Runs `calls` with the configuration file and without keys of its own. */
const calls = (args: string | readonly string[], config = 'calls.config.json') =>
  stage.quick(args, {
    cwd: folder,
    now,
    env: { CALLS_ACCESS_KEY: '', CALLS_SECRET_KEY: '', ...env, CALLS_CONFIG: join(folder, config) },
  });

beforeAll(async () => {
  stage = await openOwnStage({ records: 160, accounts: 2 });
  folder = stage.folder();
  const [main, boston] = stage.sandbox.accounts;
  idOfMain = main?.id ?? '';
  idOfBoston = boston?.id ?? '';
  env.CALLS_MAIN_ACCESS_KEY = main?.accessKey ?? '';
  env.CALLS_MAIN_SECRET_KEY = main?.secretKey ?? '';
  env.CALLS_BOSTON_ACCESS_KEY = boston?.accessKey ?? '';
  env.CALLS_BOSTON_SECRET_KEY = boston?.secretKey ?? '';
  const keys = (name: string) => ({
    accessKeyEnv: `CALLS_${name}_ACCESS_KEY`,
    secretKeyEnv: `CALLS_${name}_SECRET_KEY`,
  });
  const config = {
    baseUrl: stage.url,
    timeZone: 'America/New_York',
    accounts: { main: { id: idOfMain, ...keys('MAIN') }, boston: keys('BOSTON') },
  };
  writeFileSync(join(folder, 'none.json'), JSON.stringify(config));
  writeFileSync(
    join(folder, 'calls.config.json'),
    JSON.stringify({ ...config, default: 'boston' }),
  );
  stores.both = `sqlite:${join(folder, 'both.db')}`;
  stores.one = `sqlite:${join(folder, 'one.db')}`;
  expect((await calls(['sync', '--all-accounts', '--store', stores.both])).code).toBe(0);
  expect((await calls(['sync', '--account', 'main', '--store', stores.one])).code).toBe(0);
});
afterAll(() => stage.close());

const conversion = ['--conversion-name', 'Call', '--value', '25USD', '-o', '-'];
const questions: readonly (readonly [string, ...string[]])[] = [
  ['count', '--include-extensions'],
  ['list', '--all', '--json'],
  ['report', '--by', 'campaign', '--json'],
  ['export', '-o', '-', '--format', 'csv'],
  ['sheet', 'google-ads-clicks', ...conversion],
];
const dryPush: readonly [string, ...string[]] = [
  'push',
  ...['google', '--customer', '123-456-7890', '--conversion-action', '5'],
  ...['--value', '25USD', '--from', '90d', '--dry-run'],
];
const toSend = (text: string) => Number(/dry run: (\d+) changes? to send/.exec(text)?.[1]);

describe('a command is about one account', () => {
  test.each(questions)(
    '%s: the default, over the API and over a copy of several',
    async (...args) => {
      const api = await calls(args);
      const copy = await calls([...args, '--store', stores.both]);
      const named = await calls([...args, '--store', stores.both, '--account', 'boston']);
      const other = await calls([...args, '--store', stores.both, '--account', 'main']);
      expect(copy).toMatchObject({ code: 0, stdout: api.stdout });
      expect(named.stdout).toBe(api.stdout);
      expect(other.stdout).not.toBe(api.stdout);
      expect(api.stderr).toContain('account boston, the default');
      expect(copy.stderr).toMatch(
        /answered by the store \S+both\.db: \d+ calls of account boston,/,
      );
    },
  );

  test('one customer gets the conversions of one account', async () => {
    const api = await calls(dryPush);
    const copy = await calls([...dryPush, '--store', stores.both]);
    const other = await calls([...dryPush, '--store', stores.both, '--account', 'main']);
    expect(toSend(copy.stderr)).toBe(toSend(api.stderr));
    expect(toSend(other.stderr)).not.toBe(toSend(api.stderr));
    expect(copy.stderr).toContain('calls of account boston,');
  });

  test.each([...questions, dryPush, ['get', '1']])(
    '%s: of several without a default, none is chosen for you',
    async (...args) => {
      const { code, stdout, stderr } = await calls([...args, '--store', stores.both], 'none.json');
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      const all = args[0] === 'push' ? '' : ', or --all-accounts';
      expect(stderr).toContain(`choose --account main or boston${all}\n`);
      expect(stderr).toContain('both.db has the calls of 2 accounts');
    },
  );

  test('a copy of one account is about that one, unless another one is meant', async () => {
    const copy = await calls(['count', '--json', '--store', stores.one], 'none.json');
    const api = await calls('count --json --account main', 'none.json');
    expect(JSON.parse(copy.stdout)).toEqual({ ...JSON.parse(api.stdout), source: 'store' });
    expect(JSON.parse(api.stdout)).toMatchObject({ account: 'main' });
    const meant = await calls(['count', '--store', stores.one]);
    expect(meant).toMatchObject({ code: 2, stdout: '' });
    expect(meant.stderr).toMatch(/one\.db has no calls of an account "boston"\n.*it has main/);
    const byId = await calls(['count', '--store', stores.both, '--account', idOfBoston]);
    expect(byId.stderr).toMatch(/no calls of an account "102"\n.*it has main, boston\n$/);
  });

  test('--all-accounts and SQL are about all of them', async () => {
    const all = await calls(['count', '--all-accounts', '--store', stores.both]);
    expect(all.stdout.split('\n').map((line) => line.split('\t')[0])).toEqual([
      idOfMain < 'boston' ? 'main' : 'boston',
      idOfMain < 'boston' ? 'boston' : 'main',
      '',
    ]);
    const sql = await calls([
      'sql',
      'select count(*) as n from calls',
      '--json',
      '--store',
      stores.both,
    ]);
    expect(JSON.parse(sql.stdout)).toEqual([{ n: 160 }]);
    expect(sql.stderr).toContain('160 calls of 2 accounts');
    const report = await calls(['report', '--by', 'account', '--store', stores.both]);
    expect(report).toMatchObject({ code: 2 });
    expect(report.stderr).toContain('add --all-accounts');
  });

  test('a page says which account it is of, also where only the copy knows it', async () => {
    const file = join(folder, 'report.html');
    const page = async (...more: string[]) => {
      await stage.quick(['report', '-o', file, '--store', stores.one, ...more], {
        cwd: folder,
        now,
      });
      return readFileSync(file, 'utf8');
    };
    expect(await page()).toContain(`<dt>Account</dt><dd>${idOfMain}</dd>`);
    expect(await page('--config', join(folder, 'none.json'))).toContain(
      '<dt>Account</dt><dd>main</dd>',
    );
  });
});

describe('an account is known by its ID and by its name', () => {
  const places = [
    ['over the API', () => []],
    ['over a copy', () => ['--store', stores.both]],
  ] as const;
  describe.each(places)('%s', (_, place) => {
    test.each([
      ['main', () => 'main'],
      ['main', () => idOfMain],
      ['main', () => 'MAIN'],
      ['boston', () => 'boston'],
      ['boston', () => idOfBoston],
    ])('%s in a condition, case %#', async (name, called) => {
      const where = ['--where', `account = '${called()}'`];
      const without = await calls(['count', '--account', name, ...place()]);
      for (const args of [['--all-accounts'], ['--account', 'main,boston']]) {
        const { stdout } = await calls(['count', ...args, ...where, ...place()]);
        const other = name === 'main' ? 'boston' : 'main';
        expect(stdout).toContain(`${name}\t${without.stdout}`);
        expect(stdout).toContain(`${other}\t0\n`);
      }
      const not = await calls([
        'count',
        '--account',
        name,
        '--where',
        `account <> '${called()}'`,
        ...place(),
      ]);
      expect(not.stdout).toBe('0\n');
      const report = await calls([
        ...['report', '--by', 'account', '--all-accounts', '--json', ...where, ...place()],
      ]);
      const listed = await calls([
        'list',
        '--all',
        '--json',
        '--account',
        name,
        ...where,
        ...place(),
      ]);
      expect(JSON.parse(report.stdout)).toMatchObject([{ account: name }]);
      expect(JSON.parse(listed.stdout)).toHaveLength(Number(without.stdout));
    });

    test('an option takes either', async () => {
      const byName = await calls(['count', '--account', 'main', ...place()]);
      const byId = await calls(['count', '--account', idOfMain, ...place()]);
      expect(byId).toMatchObject({ code: 0, stdout: byName.stdout });
      const twice = await calls(['count', '--account', `main,${idOfMain}`, ...place()]);
      expect(twice).toMatchObject({ code: 0, stdout: byName.stdout });
    });

    test('a name that none has is said', async () => {
      const { stderr } = await calls(['count', '--where', "account = 'bostn'", ...place()]);
      expect(stderr).toMatch(/account is never 'bostn'; nearest: 'boston'\./);
    });
  });

  test('keys of the environment have an account too: that of its calls', async () => {
    const quick = (...args: string[]) => stage.quick(args, { cwd: folder, now });
    const { stdout } = await quick('count');
    expect(await quick('count', '--where', `account = '${idOfMain}'`)).toMatchObject({ stdout });
    expect(await quick('count', '--where', "account = '7'")).toMatchObject({ stdout: '0\n' });
  });
});

test.each([
  [['count']],
  [['list']],
  [['list', '--all', '--json']],
  [['export', '-o', '-', '--format', 'csv']],
  [['export', '-o', 'months/', '--partition', 'month']],
  [['sheet', 'google-ads-clicks', ...conversion]],
  [dryPush],
  [['report']],
])('a value that no call has is said over the API: %j', async (args) => {
  const { stderr } = await calls([...args, '--where', "campaign = 'Brand'"]);
  expect(stderr).toMatch(/ppc_campaign is never 'Brand'; nearest: '[^']*Brand[^']*'\./);
  const met = await calls([...args, '--where', "campaign like '%Brand%'"]);
  expect(met.stderr).not.toContain('is never');
});

describe('a copy that was filled with a filter says so wherever it answers', () => {
  const only = 'only calls with talk_minutes:[2 TO *]';
  let store: string[] = [];
  const file = (name: string) => readFileSync(join(folder, name), 'utf8');
  beforeAll(async () => {
    store = ['--store', `sqlite:${join(folder, 'filtered.db')}`];
    const { code, stderr } = await calls([
      'sync',
      '--min-talk',
      '2m',
      '--account',
      'main',
      ...store,
    ]);
    expect(code).toBe(0);
    expect(stderr).toContain(only);
  });

  test.each([
    ...questions,
    dryPush,
    ['export', '-o', 'filtered/', '--partition', 'month'],
    ['doctor', '--offline'],
    ['sql', 'select count(*) from calls'],
  ])('%s', async (...args) => {
    const account = args[0] === 'sql' || args[0] === 'doctor' ? [] : ['--account', 'main'];
    const { stderr, stdout } = await calls([...args, ...account, ...store]);
    expect(stderr + stdout).toContain(only);
    const other = [...args, ...account, '--store', stores.one];
    const whole = await calls(other.map((each) => each.replace('filtered/', 'whole/')));
    expect(whole.stderr + whole.stdout).not.toContain('only calls with');
  });

  test('in what is written and read by others: JSON, a table, a page', async () => {
    const of = ['--account', 'main', ...store];
    const { stdout } = await calls(['count', '--json', ...of]);
    expect(JSON.parse(stdout).incomplete).toEqual([expect.stringContaining(only)]);
    for (const args of [
      ['list', '-o', 'f.txt', '--format', 'table'],
      ['report', '-o', 'f.txt', '--format', 'table'],
      ['report', '-o', 'f.html'],
    ]) {
      expect((await calls([...args, ...of])).code).toBe(0);
      expect(file(args[2] ?? '')).toContain(only);
    }
  });

  test('in receipts, which verify reads, and in what verify says of the store', async () => {
    const of = ['--account', 'main', ...store];
    await calls(['export', '-o', 'f.csv', '--receipt', ...of]);
    const receipt = JSON.parse(file('f.csv.receipt.json'));
    expect(receipt.filter).toBe('talk_minutes:[2 TO *]');
    expect(receipt.verdict.only).toEqual([
      { filter: 'talk_minutes:[2 TO *]', from: null, to: null },
    ]);
    for (const args of [
      ['f.csv'],
      ['f.csv', '--against-api', '--account', 'main'],
      [store[1] ?? ''],
      ['filtered/'],
    ]) {
      const { code, stdout } = await calls(['verify', ...args]);
      expect(stdout).toContain(`it has ${only}`);
      expect(code).toBe(0);
    }
  });

  describe('over the API of a service that serves it', () => {
    let service: Service;
    let served: Store;
    const config = 'served.json';
    beforeAll(async () => {
      served = await openStore(store[1] ?? '');
      const accounts = stage.sandbox.accounts.slice(0, 1);
      service = createService({ store: served, accounts });
      env.CALLS_BASE_URL = (await service.listen()).url;
      const { accounts: named } = JSON.parse(file('none.json'));
      const one = { accounts: { main: named.main }, default: 'main' };
      writeFileSync(join(folder, config), JSON.stringify({ ...one, timeZone: 'America/New_York' }));
    });
    afterAll(async () => {
      delete env.CALLS_BASE_URL;
      await service.close();
      await served.close();
    });

    test.each([
      ...questions,
      ['list'],
      dryPush,
      ['export', '-o', 'served/', '--partition', 'month'],
      ['doctor'],
      ['sync', '--store', 'of-served.db'],
      // What it has fetched is a copy of a copy.
      ['count', '--store', 'of-served.db'],
    ])('%s', async (...args) => {
      const { code, stderr, stdout } = await calls(args, config);
      expect(stderr + stdout).toContain(only);
      expect(code).toBe(0);
    });

    test('in files and their receipts', async () => {
      await calls(['report', '-o', 'served.html'], config);
      expect(file('served.html')).toContain(only);
      await calls(['export', '-o', 'served.csv', '--receipt'], config);
      const { verdict } = JSON.parse(file('served.csv.receipt.json'));
      expect(verdict.only).toEqual([{ filter: 'talk_minutes:[2 TO *]', from: null, to: null }]);
      expect((await calls(['verify', 'served.csv'], config)).stdout).toContain(`it has ${only}`);
    });
  });

  test('a sync of all calls makes it a copy of all calls', async () => {
    const { stderr } = await calls(['sync', '--account', 'main', ...store]);
    expect(stderr).not.toContain('only');
    const { stdout } = await calls(['count', '--account', 'main', ...store]);
    expect(stdout).toBe((await calls('count --account main')).stdout);
  });
});

test('a report of several accounts adds up the spend of each, and refuses an account without', async () => {
  const config = JSON.parse(readFileSync(join(folder, 'none.json'), 'utf8'));
  const { main, boston } = config.accounts;
  const write = (more: object, ofMain: object, ofBoston: object) =>
    writeFileSync(
      join(folder, 'spend.json'),
      JSON.stringify({
        ...config,
        ...more,
        accounts: { main: { ...main, ...ofMain }, boston: { ...boston, ...ofBoston } },
      }),
    );
  writeFileSync(join(folder, 'one.csv'), 'Campaign,Currency,Cost\nBurning,USD,1.10\n');
  writeFileSync(join(folder, 'other.csv'), 'Campaign,Currency,Cost\nBurning,USD,2.20\n');
  writeFileSync(join(folder, 'euros.csv'), 'Campaign,Currency,Cost\nBurning,EUR,2.20\n');
  const args = 'report --by campaign --measures calls --spend google --json --store'.split(' ');
  const spent = async (...which: readonly string[]) => {
    const { stdout, stderr } = await calls([...args, stores.both, ...which], 'spend.json');
    return `${/"calls":0,"spend":([\d.]+)/.exec(stdout)?.[1] ?? ''}${stderr}`;
  };

  const named = (file: string) => ({ spend: { google: file } });
  write({}, named('one.csv'), named('other.csv'));
  expect(await spent('--all-accounts')).toMatch(/^3\.3\D/);
  expect(await spent('--account', 'boston')).toMatch(/^2\.2\D/);
  write(named('one.csv'), {}, {});
  expect(await spent('--all-accounts')).toMatch(/^1\.1\D/);
  write(named('one.csv'), {}, named('euros.csv'));
  expect(await spent('--all-accounts')).toContain(
    'one.csv is in USD and euros.csv in EUR: amounts of two currencies never add up',
  );
  write({}, named('one.csv'), {});
  expect(await spent('--all-accounts')).toContain('account boston has no spend called google');
  write({ spend: { google: 1 } }, {}, {});
  expect(await spent('--all-accounts')).toMatch(/spend\.json: spend\.google must be a file/);
  write({}, { spend: 'google.csv' }, {});
  expect(await spent('--all-accounts')).toMatch(
    /account "main": "spend" must be an object of files/,
  );
});
