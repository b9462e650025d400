import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nobody, openStage } from '../stage.ts';

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
          accessKeyFile: 'berlin.access-key',
          secretKeyFile: 'berlin.secret-key',
        },
      },
    });
    expect((await run(['count', '--account', 'berlin'])).code).toBe(0);
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
