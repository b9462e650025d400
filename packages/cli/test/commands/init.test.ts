import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatNaive, offsetAt } from '@call-attribution/core/time';
import { describe, expect, test } from 'vitest';
import { nobody, type OwnStage, openOwnStage, openStage } from '../stage.ts';

const stage = openStage();

const given = {
  CALLS_BASE_URL: stage.url,
  CALLS_ACCESS_KEY: stage.env.CALLS_ACCESS_KEY ?? '',
  CALLS_SECRET_KEY: stage.env.CALLS_SECRET_KEY ?? '',
  CALLS_TIME_ZONE: 'America/New_York',
};

/** A user with nothing but a HOME. */
function newUser() {
  const home = stage.folder();
  const folder = join(home, '.config', 'call-attribution');
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    stage.quick(args, { cwd: home, env: { ...nobody, HOME: home, ...env } });
  return { folder, file: join(folder, 'calls.config.json'), run };
}

describe('calls init at a terminal', () => {
  const initWith = async (baseUrl: string, typed: readonly string[]) => {
    const home = stage.folder();
    const env = { ...nobody, ...given, HOME: home, CALLS_BASE_URL: '' };
    const { stderr } = await stage.quick(['init'], { cwd: home, env, typed: [baseUrl, ...typed] });
    const file = join(home, '.config/call-attribution/calls.config.json');
    return { stderr, kept: JSON.parse(readFileSync(file, 'utf8')).baseUrl };
  };

  test.each(['/v3/calls', '/v3/user/bid-management/0a1b', '/v2/calls/'])(
    'an address that ends in a path of the API is asked for again: %s',
    async (path) => {
      const { stderr, kept } = await initWith(`${stage.url}${path}\n`, ['\n', 'v3\n', '\n']);
      expect(stderr).toContain(`usually ends with ${path.slice(0, 3)}`);
      expect(stderr).not.toContain('nothing is kept yet');
      expect(kept).toBe(stage.url);
    },
  );

  test('an address that ends in the version is taken as it is', async () => {
    const { stderr, kept } = await initWith(`${stage.url}/v3/user/bid-management\n`, ['\n', '\n']);
    expect(stderr).not.toContain('usually');
    expect(kept).toBe(stage.url);
  });
});

describe('calls init without a terminal', () => {
  test('keeps what the environment says, and later commands need no environment', async () => {
    const { run, folder, file } = newUser();
    const made = await run(['init'], given);
    expect(made).toMatchObject({ code: 0 });
    expect(made.stdout).toMatch(
      /^kept in .*calls\.config\.json, which only you can read\nnext: calls doctor, calls list --from 7d\n$/,
    );
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      baseUrl: stage.url,
      timeZone: 'America/New_York',
      accessKeyFile: 'access-key',
      secretKeyFile: 'secret-key',
    });
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect((await run(['list', '--from', '7d'])).code).toBe(0);
    expect(made.stdout + made.stderr).not.toContain(given.CALLS_SECRET_KEY);
  });

  test('keys that the server refuses are not kept', async () => {
    const { run, file } = newUser();
    const { code, stderr } = await run(['init'], { ...given, CALLS_SECRET_KEY: 'wrong' });
    expect(code).toBe(4);
    expect(stderr).not.toContain('wrong');
    expect(() => statSync(file)).toThrow(/ENOENT/);
  });

  test.each([
    [
      {},
      /no terminal to ask at, and CALLS_BASE_URL, CALLS_ACCESS_KEY, CALLS_SECRET_KEY, CALLS_TIME_ZONE are not set/,
    ],
    [{ ...given, CALLS_TIME_ZONE: '' }, /CALLS_TIME_ZONE is not set/],
    [{ ...given, CALLS_BASE_URL: 'nowhere' }, /CALLS_BASE_URL must be a URL/],
  ])('%j is refused with a way out', async (env, expected) => {
    const { run, file } = newUser();
    const { code, stderr } = await run(['init'], env);
    expect(code).toBe(2);
    expect(stderr).toMatch(expected);
    expect(() => statSync(file)).toThrow(/ENOENT/);
  });

  test('an account is added next to what is there, with what differs; a taken name is refused', async () => {
    const { run, file } = newUser();
    await run(['init'], given);
    expect(
      (await run(['init', '--account', 'berlin'], { ...given, CALLS_TIME_ZONE: 'Europe/Berlin' }))
        .code,
    ).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      accessKeyFile: 'access-key',
      accounts: {
        berlin: {
          timeZone: 'Europe/Berlin',
          id: '101',
          accessKeyFile: 'berlin.access-key',
          secretKeyFile: 'berlin.secret-key',
        },
      },
    });
    for (const called of ['berlin', '101'])
      expect((await run(['count', '--account', called])).code).toBe(0);
    const before = readFileSync(file, 'utf8');
    for (const [args, expected] of [
      [['init'], /has an address and keys already[\s\S]*--account NAME/],
      [['init', '--account', 'berlin'], /has the account berlin already/],
      [['init', '--account', '../x'], /--account: a name is/],
    ] as const) {
      const { code, stderr } = await run(args, given);
      expect(code).toBe(2);
      expect(stderr).toMatch(expected);
    }

    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('a file that is no JSON stays as it is', async () => {
    const { run, file, folder } = newUser();
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, '{ "baseUrl": ');
    expect(await run(['init'], given)).toMatchObject({ code: 2 });
    expect(readFileSync(file, 'utf8')).toBe('{ "baseUrl": ');
  });
});

describe('an account that is replaced at a terminal', () => {
  const replace = async (berlin: object, others: object = {}) => {
    const file = join(stage.folder(), 'calls.config.json');
    const accounts = { berlin: { ...berlin, baseUrl: stage.url }, ...others };
    writeFileSync(file, JSON.stringify({ default: 'berlin', accounts }));
    const { code, stderr } = await stage.quick(['init', '--account', 'berlin', '--config', file], {
      env: { ...nobody, ...given },
      typed: ['y\r', '\r', '\r', '\r'],
    });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const kept = JSON.parse(readFileSync(file, 'utf8')).accounts.berlin;
    return { id: kept.id, kept, stderr };
  };

  test('keeps what is not asked for, and no key of before', async () => {
    const spend = { google: 'google.csv' };
    const { kept } = await replace({ id: '101', spend, bearerTokenFile: 'old', apiVersion: 'v2' });
    expect(kept).toMatchObject({ spend });
    expect(kept).not.toHaveProperty('bearerTokenFile');
    expect(kept).not.toHaveProperty('apiVersion');
  });

  test('keeps its ID, or its name where copies have it under that', async () => {
    expect(await replace({ id: '101' })).toMatchObject({ id: '101' });
    expect(await replace({})).toMatchObject({ id: undefined });
  });

  test('has the ID that its calls tell, where the keys before were those of another account', async () => {
    const { id, stderr } = await replace({ id: '999' });
    expect(id).toBe('101');
    expect(stderr).toContain('berlin is account 101 from now on, as its calls say, and not 999');
  });
});

describe('the time zone of the newest calls', () => {
  /** An account whose calls end so many minutes from the clock of the server. */
  const stageAt = (minutes: number, records: number, days: number) =>
    openOwnStage({ records, days, to: formatNaive(Date.now() + minutes * 60_000) });

  const initOf = async ({ url, env, folder, quick }: OwnStage) => {
    const home = folder();
    const { CALLS_ACCESS_KEY = '', CALLS_SECRET_KEY = '' } = env;
    const keys = { CALLS_ACCESS_KEY, CALLS_SECRET_KEY };
    const run = await quick(['init'], {
      cwd: home,
      env: { ...nobody, HOME: home, CALLS_BASE_URL: url, ...keys },
      typed: ['\n', '\n', '\n'],
    });
    const { timeZone } = JSON.parse(
      readFileSync(join(home, '.config/call-attribution/calls.config.json'), 'utf8'),
    );
    return { ...run, timeZone };
  };

  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;

  // A zone in which it is noon, when many call.
  const hours = 13 - new Date().getUTCHours();

  test('is offered where a day has many calls, and the newest is of now', async () => {
    const stage = await stageAt(hours * 60 - 1, 3000, 2);
    const { timeZone, stderr } = await initOf(stage);
    expect(stderr).toMatch(/the newest call is .* UTC, as in /);
    expect(offsetAt(Date.now(), timeZone)).toBe(hours * 3_600_000);
    await stage.close();
  });

  test.each([
    ['there are few calls', hours * 60 - 1, 30, 30],
    ['the newest is between two zones', hours * 60 - 8, 3000, 2],
  ])('is not guessed where %s', async (_, minutes, records, days) => {
    const stage = await stageAt(minutes, records, days);
    const { timeZone, stderr } = await initOf(stage);
    expect(stderr).not.toMatch(/the newest call/);
    expect(timeZone).toBe(own);
    await stage.close();
  });

  test('calls doctor warns where the one that is set puts it into the future', async () => {
    const stage = await stageAt(0, 3000, 2);
    const doctor = (zone: string, ...args: string[]) =>
      stage.quick(['doctor', ...args], { env: { CALLS_TIME_ZONE: zone }, now: new Date() });
    expect((await doctor('UTC')).stdout).not.toMatch(/in the future/);
    const warned = await doctor('America/New_York');
    expect([warned.code, warned.stdout]).toEqual([
      0,
      expect.stringMatching(
        /note +time zone +the newest call, of .*, is in the future: in America\/New_York it is /,
      ),
    ]);
    await stage.quick(['sync', '--store', 'sqlite:calls.db']);
    const stored = await doctor('America/New_York', '--offline', '--store', 'sqlite:calls.db');
    expect(stored.stdout).toMatch(/is in the future/);
    await stage.close();
  });
});
