import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nobody, type OwnStage, openOwnStage, openStage } from './stage.ts';

const stage = openStage();

describe('keys', () => {
  test('without keys a command ends with status 2 and says how to set them', async () => {
    const { code, stderr } = await stage.quick('count', {
      env: { CALLS_ACCESS_KEY: '', CALLS_SECRET_KEY: '' },
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/CALLS_ACCESS_KEY and CALLS_SECRET_KEY/);
  });

  test('CALLS_LOG logs the requests on stderr and leaves stdout as it is; a wrong level is refused', async () => {
    const plain = await stage.quick(['count']);
    const logged = await stage.quick(['count'], {
      env: { CALLS_LOG: 'debug', CALLS_LOG_FORMAT: 'json' },
    });
    expect(logged).toMatchObject({ code: 0, stdout: plain.stdout });
    const line = logged.stderr.split('\n').find((each) => each.startsWith('{')) ?? '';
    expect(JSON.parse(line)).toMatchObject({ level: 'debug', operation: 'list', status: 200 });
    expect(logged.stderr).not.toContain(stage.env.CALLS_SECRET_KEY);
    const wrong = await stage.quick(['count'], { env: { CALLS_LOG: 'inof' } });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toMatch(
      /CALLS_LOG must be debug, info, warn, error or off, not "inof"[\s\S]*did you mean info/,
    );
  });

  test('keys can be in files that the environment or the configuration file names', async () => {
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'access'), `${stage.env.CALLS_ACCESS_KEY}\n`);
    writeFileSync(join(cwd, 'secret'), `${stage.env.CALLS_SECRET_KEY}\n`);
    const byName = {
      ...nobody,
      CALLS_BASE_URL: stage.url,
      CALLS_ACCESS_KEY_FILE: 'access',
      CALLS_SECRET_KEY_FILE: 'secret',
    };
    expect((await stage.quick(['count'], { cwd, env: byName })).code).toBe(0);
    const config = { baseUrl: stage.url, accessKeyFile: 'access', secretKeyFile: 'secret' };
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify(config));
    const named = { ...nobody, CALLS_CONFIG: 'calls.config.json' };
    expect((await stage.quick(['count'], { cwd, env: named })).code).toBe(0);
    const missing = await stage.quick('count', {
      cwd,
      env: { ...byName, CALLS_SECRET_KEY_FILE: 'nowhere' },
    });
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toMatch(/CALLS_SECRET_KEY_FILE: .*nowhere cannot be read/);
  });
});

describe('configuration', () => {
  test('options win over the environment, and the environment over the file', async () => {
    const cwd = stage.folder();
    const wrong = 'http://127.0.0.1:1';
    writeFileSync(
      join(cwd, 'calls.config.json'),
      JSON.stringify({ baseUrl: wrong, timeZone: 'UTC' }),
    );
    const env = { CALLS_BASE_URL: '', CALLS_TIME_ZONE: '', CALLS_CONFIG: 'calls.config.json' };
    expect((await stage.quick(['count'], { cwd, env })).code).toBe(5);
    expect(
      (await stage.quick(['count'], { cwd, env: { ...env, CALLS_BASE_URL: stage.url } })).code,
    ).toBe(0);
    const over = { cwd, env: { ...env, CALLS_BASE_URL: wrong } };
    expect(
      (await stage.quick(['count', '--base-url', stage.url, '--from', '99999d'], over)).code,
    ).toBe(0);
    const doctor = await stage.quick(['doctor', '--base-url', stage.url], over);
    expect(doctor.stdout).toMatch(/\(--base-url\)/);
    expect(doctor.stdout.replace(/\s+/g, ' ')).toMatch(/UTC \(.*calls\.config\.json\)/);
    expect(doctor.stdout).not.toContain(stage.env.CALLS_SECRET_KEY);
  });

  test('a file in the current folder is not read, and calls doctor says so', async () => {
    const cwd = stage.folder();
    const other = 'http://127.0.0.1:1';
    writeFileSync(
      join(cwd, 'calls.config.json'),
      JSON.stringify({ baseUrl: other, store: 'sqlite:here.db' }),
    );
    const none = await stage.quick(['count'], { cwd, env: { CALLS_BASE_URL: '' } });
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('CALLS_BASE_URL') });
    const synced = await stage.quick(['sync'], { cwd });
    expect(synced).toMatchObject({ code: 2, stderr: expect.stringContaining('--store') });
    const doctor = await stage.quick(['doctor'], { cwd, env: { XDG_CONFIG_HOME: cwd } });
    expect(doctor.stdout.replace(/\s+/g, ' ')).toContain(
      `there is no ${join(cwd, 'call-attribution', 'calls.config.json')}; only options and environment are used → --config calls.config.json reads the one in this folder`,
    );
    const named = await stage.quick(['doctor', '--config', 'calls.config.json'], { cwd });
    expect(named.stdout).toMatch(new RegExp(`ok +file +${join(cwd, 'calls.config.json')}\n`));
  });

  test('--config is read first, and the configuration folder of the user last', async () => {
    const cwd = stage.folder();
    const home = join(cwd, 'home');
    mkdirSync(join(home, 'call-attribution'), { recursive: true });
    writeFileSync(
      join(home, 'call-attribution', 'calls.config.json'),
      JSON.stringify({ baseUrl: stage.url }),
    );
    const env = { CALLS_BASE_URL: '', XDG_CONFIG_HOME: home };
    expect((await stage.quick(['count'], { cwd, env })).code).toBe(0);
    writeFileSync(join(cwd, 'other.json'), JSON.stringify({ baseUrl: 'http://127.0.0.1:1' }));
    expect((await stage.quick(['count', '--config', 'other.json'], { cwd, env })).code).toBe(5);
    expect((await stage.quick(['count', '--config', 'nowhere.json'], { cwd, env })).stderr).toMatch(
      /no configuration file/,
    );
  });

  test.each([
    ['{ "baseUrl": "x", ', /is not JSON/],
    ['[]', /must hold one JSON object/],
    ['{ "baseURL": "https://example.com" }', /unknown name "baseURL"[\s\S]*did you mean "baseUrl"/],
    ['{ "baseUrl": 5 }', /"baseUrl" must be a string/],
    ['{ "apiVersion": "v4", "baseUrl": "https://example.com" }', /v2 or v3, not "v4"/],
    ['{ "secretKey": "hunter2", "oops', /is not JSON/],
  ])('it refuses a configuration file with %s', async (text, said) => {
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'calls.config.json'), text);
    const { code, stderr } = await stage.quick('count --config calls.config.json', {
      cwd,
      env: nobody,
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(said);
    expect(stderr).not.toContain('hunter2');
  });
});

describe('several accounts', () => {
  let two: OwnStage;
  beforeAll(async () => {
    two = await openOwnStage({ records: 60, accounts: 2 });
  });
  afterAll(() => two.close());

  const unset = { accessKeyEnv: 'CALLS_UNSET_KEY', secretKeyFile: 'main.secret' };

  /**
   * A folder with two accounts and, when `broken`, one whose key is wrong and one whose key is not
   * set.
   */
  function accounts({ broken = false, zone = 'UTC', version = 'v3' } = {}) {
    const cwd = two.folder();
    const [main, berlin] = two.sandbox.accounts;
    writeFileSync(join(cwd, 'main.access'), main?.accessKey ?? '');
    writeFileSync(join(cwd, 'main.secret'), main?.secretKey ?? '');
    const config = {
      baseUrl: two.url,
      timeZone: 'UTC',
      accounts: {
        main: { id: main?.id, accessKeyFile: 'main.access', secretKeyFile: 'main.secret' },
        ...(broken
          ? {
              broken: { accessKeyEnv: 'CALLS_WRONG_KEY', secretKeyFile: 'main.secret' },
              unset: { ...unset },
            }
          : {}),
        berlin: {
          timeZone: zone,
          ...(version === 'v2'
            ? { apiVersion: 'v2', bearerTokenEnv: 'CALLS_BERLIN_TOKEN' }
            : { accessKeyEnv: 'CALLS_BERLIN_ACCESS_KEY', secretKeyEnv: 'CALLS_BERLIN_SECRET_KEY' }),
        },
      },
    };
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify(config));
    const env = {
      ...nobody,
      CALLS_CONFIG: join(cwd, 'calls.config.json'),
      CALLS_BERLIN_ACCESS_KEY: berlin?.accessKey ?? '',
      CALLS_BERLIN_SECRET_KEY: berlin?.secretKey ?? '',
      CALLS_BERLIN_TOKEN: berlin?.bearerToken ?? '',
      CALLS_WRONG_KEY: 'wrong',
    };
    const run = (...args: string[]) =>
      two.quick(args.length === 1 ? (args[0] ?? '') : args, { cwd, env });
    return { cwd, run };
  }

  test('each command that reads says which row is whose', async () => {
    const { cwd, run } = accounts();
    const counts = (await run('count', '--all-accounts')).stdout;
    expect(counts).toMatch(/^main\t\d+\nberlin\t\d+\n$/);
    const [main, berlin] = counts.split('\n').map((line) => Number(line.split('\t')[1])) as [
      number,
      number,
    ];
    const csv = await run('list --account main,berlin --all --format csv --fields sid,acct_id');
    const rows = csv.stdout
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(','));
    expect(csv.stdout).toMatch(/^account,sid,acct_id\r?\n/);
    expect(rows.filter(([account]) => account === 'main')).toHaveLength(main);
    expect(new Set(rows.map(([account, , id]) => `${account} ${id}`)).size).toBe(2);
    const [first] = JSON.parse((await run('list', '--all-accounts', '--json', '-n', '1')).stdout);
    expect(Object.keys(first)[0]).toBe('account');
    expect((await run('list', '--all-accounts')).stdout).toMatch(/^account +date_added .*\nmain /);
    const [, sid] = rows.find(([account]) => account === 'berlin') ?? [];
    expect((await run('get', sid ?? '', '--all-accounts')).stdout).toMatch(/^account berlin\n/);
    expect((await run('get', '1', '--all-accounts')).code).toBe(6);
    expect(
      (await run('report', '--by', 'account', '--format', 'csv', '--all-accounts')).stdout,
    ).toContain(`berlin,${berlin},`);
    const sms = await run(
      `sms --all-accounts --format csv --legacy-base-url ${two.env.CALLS_LEGACY_BASE_URL}`,
    );
    expect(sms.stdout).toMatch(/^account,number/);
    expect(
      await run('export', '--all-accounts', '-o', '{account}.csv', '--fields', 'sid'),
    ).toMatchObject({
      code: 0,
    });
    expect(readFileSync(join(cwd, 'berlin.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(
      berlin + 1,
    );
    expect((await run('export', '--all-accounts', '-o', 'calls.csv.gz')).stderr).toContain(
      'put {account} in the name: --output calls-{account}.csv.gz',
    );
  });

  test('several accounts are one question, from the API and from a copy alike', async () => {
    const { run } = accounts();
    const id = two.sandbox.accounts[0]?.id ?? '';
    const total = (text: string) =>
      text.split('\n').reduce((sum, line) => sum + Number(line.split('\t')[1] ?? 0), 0);
    const report = (...more: string[]) => run('report', '--all-accounts', ...more);

    // Only a copy knows when the last of all calls was made, also of those that no condition met.
    const numbersOf = (text: string) => text.replace(/^Not a whole .*\n/gm, '');
    const all = total((await run('count', '--all-accounts')).stdout);
    expect((await report('--by', 'weekday')).stdout).toMatch(
      new RegExp(`^Weekday[^]*\\nAll calls +${all} +100\\.0%`),
    );
    const last = total((await run('count', '--all-accounts', '--from', '30d')).stdout);
    expect(last).toBeLessThan(all);
    expect((await run('sync', '--all-accounts', '--store', 'sqlite:both.db')).code).toBe(0);

    // What is counted is said once, of all of them.
    for (const store of ['none', 'sqlite:both.db'])
      expect(
        (await run('count', '--all-accounts', '--store', store)).stderr.match(/call extensions/g),
      ).toEqual(['call extensions']);

    const mistake = await run(
      'count',
      '--all-accounts',
      '--store',
      'sqlite:both.db',
      '--where',
      'foo = 1',
    );
    expect(mistake).toMatchObject({ code: 2, stdout: '' });
    expect(mistake.stderr.match(/There is no field foo/g)).toHaveLength(1);
    for (const where of [`account = '${id}'`, `account in ('${id}', 'x')`])
      expect(
        (await run('count', '--all-accounts', '--store', 'sqlite:both.db', '--where', where))
          .stdout,
      ).toMatch(/^main\t[1-9]\d*\nberlin\t0\n$/);

    for (const asked of [
      ['--by', 'account,campaign', '--order', 'calls desc', '--limit', '3', '--json'],
      ['--by', 'account,month', '--where', "channel = 'Tracker'"],
      ['--by', 'account', '--where', `account = '${id}' and talk_minutes > 1`],
      ['--by', 'account', '--from', '30d', '--measures', 'calls,callers', '--format', 'csv'],
    ]) {
      const api = await report(...asked);
      expect(api.code).toBe(0);
      const copy = await report(...asked, '--store', 'sqlite:both.db');
      expect([copy.code, numbersOf(copy.stdout)]).toEqual([0, numbersOf(api.stdout)]);
      if (asked.includes('--json')) expect(JSON.parse(api.stdout)).toHaveLength(3);
      if (!asked.includes('30d')) continue;
      const rows = api.stdout.trimEnd().split('\r\n').slice(1);
      expect(rows.map((row) => row.split(',')[0]).sort()).toEqual(['berlin', 'main']);
      expect(rows.reduce((sum, row) => sum + Number(row.split(',')[1]), 0)).toBe(last);
    }
  });

  test.each([
    [
      { zone: 'Pacific/Kiritimati' },
      /same time zone: main \(UTC\), berlin \(Pacific\/Kiritimati\)/,
    ],
    [{ version: 'v2' }, /same version of the API: main \(v3\), berlin \(v2\)/],
  ])(
    'a report over accounts that differ in %o is refused, and one of each is not',
    async (unlike, said) => {
      const { run } = accounts(unlike);
      expect((await run('sync', '--all-accounts', '--store', 'sqlite:both.db')).code).toBe(0);
      for (const store of ['none', 'sqlite:both.db']) {
        const report = ['report', '--by', 'account', '--store', store];
        const both = await run(...report, '--all-accounts');
        expect(both).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(said) });
        expect(both.stderr).toMatch(/→ ask for those that are alike: --account main/);
        for (const one of ['main', 'berlin'])
          expect((await run('report', '--account', one, '--store', store)).code).toBe(0);
      }
    },
  );

  test('a store keeps accounts apart, each with its own keys', async () => {
    const { cwd, run } = accounts();
    const synced = await run('sync', '--all-accounts', '--store', 'sqlite:calls.db', '--json');
    expect(synced).toMatchObject({ code: 0 });
    const ids = synced.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).account);
    expect(ids).toEqual([two.sandbox.accounts[0]?.id, 'berlin']);
    const listed = (
      await two.quick(['store', 'accounts', 'list', '--store', 'sqlite:calls.db'], { cwd })
    ).stdout;
    expect(
      listed
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).credentials.length),
    ).toEqual([1, 1]);
  });

  test('an account that fails is named, the others go on, and the exit status says so', async () => {
    const { run } = accounts({ broken: true });
    const partly = await run('count', '--all-accounts');
    expect(partly.code).toBe(3);
    expect(partly.stdout).toMatch(/^main\t\d+\nberlin\t\d+\n$/);
    expect(partly.stderr).toMatch(
      /account broken: .*\n[\s\S]*CALLS_UNSET_KEY is not set\n[\s\S]*2 of 4 accounts failed: broken, unset/,
    );

    for (const command of [
      ['list'],
      ['report', '--by', 'account'],
      ['sync', '--store', 'sqlite:calls.db'],
    ]) {
      const { code, stderr } = await run(...command, '--all-accounts');
      expect([command, code, stderr]).toEqual([
        command,
        3,
        expect.stringMatching(
          /CALLS_UNSET_KEY is not set\n[\s\S]*2 of 4 accounts failed: broken, unset/,
        ),
      ]);
    }

    expect((await run('count', '--account', 'broken')).code).toBe(4);
    const checked = await run('doctor', '--all-accounts', '--json');
    expect(checked.code).toBe(4);
    expect(JSON.parse(checked.stdout).findings).toContainEqual(
      expect.objectContaining({ account: 'broken', item: 'list', state: 'wrong' }),
    );
    expect((await run('sync', '--account', 'mian', '--store', 'sqlite:calls.db')).stderr).toContain(
      'did you mean main?',
    );
    expect((await run('count')).stderr).toMatch(/^calls: choose --account main/);
    expect((await two.quick(['count', '--account', 'main'])).stderr).toContain(
      'no calls.config.json with accounts',
    );
  });
});
