import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { inspect } from 'node:util';
import { createClient } from '@call-attribution/core';
import { takeEnvironment } from '@call-attribution/core/environment';
import {
  annotationsOf,
  connectionOf,
  missingSettings,
  readAccounts,
  readSettings,
  type Settings,
  userConfigFile,
} from '@call-attribution/settings';
import { onTestFinished as afterwards, describe, expect, test } from 'vitest';

const url = 'https://api.example.com';

/** A new folder with these files. */
function folder(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const cwd = mkdtempSync(join(tmpdir(), 'settings-'));
  afterwards(() => rmSync(cwd, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }

  return cwd;
}

/** Settings of an environment and of the `calls.config.json` that is named. */
function read(env: Record<string, string>, config?: string | Buffer, more: object = {}) {
  const cwd = folder(config === undefined ? {} : { 'calls.config.json': config });
  const named = config === undefined ? {} : { config: 'calls.config.json' };
  return readSettings({ env: { HOME: cwd, ...env }, cwd, ...named, ...more });
}

describe('settings', () => {
  test('options come before the environment, and the environment before the file', () => {
    const config = JSON.stringify({ baseUrl: `${url}/file`, timeZone: 'UTC', apiVersion: 'v2' });
    const env = { CALLS_BASE_URL: `${url}/env`, CALLS_API_VERSION: 'v3' };
    const options = { baseUrl: `${url}/option`, apiVersion: null };
    const settings = read(env, config, { options, nameOption: (name: string) => `--${name}` });
    expect(settings.problems).toEqual([]);
    expect(settings.baseUrl).toEqual({
      value: `${url}/option`,
      origin: 'option',
      from: '--baseUrl',
    });
    expect(settings.apiVersion).toEqual({
      value: 'v3',
      origin: 'environment',
      from: 'CALLS_API_VERSION',
    });
    expect(settings.timeZone).toEqual({ value: 'UTC', origin: 'file', from: settings.file?.path });
  });
  test('a timeout is a duration in the environment, in the file or in one of its accounts', () => {
    const account = { baseUrl: url, timeout: '90s' };
    const config = JSON.stringify({
      timeout: '2m',
      accounts: { main: account, other: { baseUrl: url } },
    });
    expect(read({}).timeout).toBe(null);
    expect(read({}, config).timeout?.value).toBe(120_000);
    expect(read({ CALLS_TIMEOUT: '0.5s' }, config).timeout?.value).toBe(500);
    expect(read({}, config, { account: 'main' }).timeout?.value).toBe(90_000);
    expect(read({}, config, { account: 'other' }).timeout?.value).toBe(120_000);
    const connection = connectionOf(read({ CALLS_TIMEOUT: '3m' }, config));
    expect(connection.timeout).toBe(180_000);
    expect(connectionOf(read({}))).not.toHaveProperty('timeout');
  });
  test('a store is named by an option, by CALLS_STORE or in the file', () => {
    const config = JSON.stringify({ store: 'sqlite:file.db' });
    const named = (env: Record<string, string>, options: object) =>
      read(env, config, { options }).store?.value;
    expect(named({}, {})).toBe('sqlite:file.db');
    expect(named({ CALLS_STORE: 'sqlite:env.db' }, {})).toBe('sqlite:env.db');
    expect(named({ CALLS_STORE: 'sqlite:env.db' }, { store: 'none' })).toBe('none');
    expect(read({}).store).toBe(null);
  });
  test('an empty variable and a placeholder that was left count as not set', () => {
    const settings = read({ CALLS_BASE_URL: '  ', CALLS_TIME_ZONE: '$' + '{input:zone}' });
    expect([settings.baseUrl, settings.timeZone, settings.problems]).toEqual([null, null, []]);
    expect(settings.apiVersion).toMatchObject({ value: 'v3', origin: 'default' });
  });
  test.each([
    ['a UTF-8 byte order mark', Buffer.from(`\ufeff{"baseUrl":"${url}"}`)],
    ['UTF-16 with a byte order mark', Buffer.from(`\ufeff{"baseUrl":"${url}"}`, 'utf16le')],
  ])('a file with %s is read', (_, config) => {
    expect(read({}, config).baseUrl?.value).toBe(url);
  });
  test('the file that is named comes first, then that of the user; none is looked for in the current folder', () => {
    const cwd = folder({
      'home/call-attribution/calls.config.json': JSON.stringify({ baseUrl: `${url}/home` }),
      'other.json': JSON.stringify({ baseUrl: `${url}/other` }),
    });
    const env = { XDG_CONFIG_HOME: join(cwd, 'home') };
    expect(readSettings({ env, cwd }).baseUrl?.value).toBe(`${url}/home`);
    expect(readSettings({ env: { ...env, CALLS_CONFIG: 'other.json' }, cwd }).baseUrl?.value).toBe(
      `${url}/other`,
    );
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify({ baseUrl: `${url}/cwd` }));
    expect(readSettings({ env, cwd }).baseUrl?.value).toBe(`${url}/home`);
    for (const HOME of [cwd, '.', 'home'])
      expect(readSettings({ env: { HOME, XDG_CONFIG_HOME: '.' }, cwd }).baseUrl, HOME).toBe(null);
    expect(readSettings({ env: { CALLS_CONFIG: 'calls.config.json' }, cwd }).baseUrl?.value).toBe(
      `${url}/cwd`,
    );
  });
  test.each([
    ['linux', { HOME: '/home/me' }, '/home/me/.config/call-attribution/calls.config.json'],
    ['linux', { HOME: '/home/me', XDG_CONFIG_HOME: '/x' }, '/x/call-attribution/calls.config.json'],
    [
      'linux',
      { HOME: '/home/me', XDG_CONFIG_HOME: 'x' },
      '/home/me/.config/call-attribution/calls.config.json',
    ],
    ['linux', { HOME: 'here' }, null],
    [
      'darwin',
      { HOME: '/me' },
      '/me/Library/Application Support/call-attribution/calls.config.json',
    ],
    [
      'win32',
      { HOME: '/me', APPDATA: '/me/Roaming' },
      '/me/Roaming/call-attribution/calls.config.json',
    ],
  ] as const)('on %s with %j the file of the user is %s', (platform, env, path) => {
    expect(userConfigFile(env, platform)).toBe(path);
  });
  test('a key file is a regular file of at most 64 KiB, and a pipe is not waited for', () => {
    const cwd = folder({ large: 'x'.repeat(65_537), full: 'x'.repeat(65_536) });
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    const refusals = [
      ['/dev/zero', 'not a regular file'],
      ['pipe', 'not a regular file'],
      ['large', 'larger than 64 KiB'],
      ['.', 'EISDIR'],
    ];
    for (const [path = '', why] of refusals) {
      const settings = readSettings({ env: { HOME: cwd, CALLS_SECRET_KEY_FILE: path }, cwd });
      expect(
        settings.problems.map(({ message }) => message),
        path,
      ).toEqual([`CALLS_SECRET_KEY_FILE: ${resolve(cwd, path)} cannot be read (${why})`]);
      expect(settings.secret('secretKey')).toBe(null);
    }

    const { problems } = readSettings({ env: { HOME: cwd }, cwd, config: 'pipe' });
    expect(problems[0]?.message).toBe(`${join(cwd, 'pipe')} cannot be read (not a regular file)`);
    const full = readSettings({ env: { HOME: cwd, CALLS_SECRET_KEY_FILE: 'full' }, cwd });
    expect(full.secret('secretKey')?.value).toHaveLength(65_536);
  });
  test('what is under "service" is kept for the program that serves, and is no setting of a client', () => {
    const { file, problems } = read({}, JSON.stringify({ baseUrl: url, service: { maxRows: 5 } }));
    expect([file?.service, problems]).toEqual([{ maxRows: 5 }, []]);
  });
  test('a file with a credential, or with numbers of callers, that others can read is exposed', () => {
    const cwd = folder({ 'calls.config.json': JSON.stringify({ secretKey: 'hunter2' }) });
    chmodSync(join(cwd, 'calls.config.json'), 0o644);
    const config = 'calls.config.json';
    const exposed = () => readSettings({ env: {}, cwd, config }).file?.exposed;
    const onPosix = (what: string) => (process.platform === 'win32' ? null : what);
    expect(exposed()).toBe(onPosix('a key'));
    chmodSync(join(cwd, config), 0o600);
    expect(exposed()).toBe(null);

    const define = (office: string) => {
      writeFileSync(join(cwd, config), JSON.stringify({ definitions: { office } }));
      chmodSync(join(cwd, config), 0o644);
    };
    define("ani IN ('+1 (303) 555-0100')");
    expect(exposed()).toBe(onPosix('numbers of callers'));
    for (const harmless of [
      "date_added >= '2026-10-01 08:00:00'",
      "state = 'TX'",
      'rank > 1234567',
    ]) {
      define(harmless);
      expect(exposed()).toBe(null);
    }
  });
});

describe('problems never show the value of a credential', () => {
  test.each([
    [
      {},
      '{\n  "baseUrl": "x",\n  secretKey: "hunter2"\n}',
      'line 3, column 3 should have a name in double',
    ],
    [{}, '{ "secretKey": "hunter2"', 'line 1, column 25 should have a comma'],
    [{}, '{ "secretKey": "hunter2" "baseUrl"', 'line 1, column 26 should have a comma'],
    [{}, '{ "secretKey" "hunter2" }', 'column 15 should have a colon'],
    [{}, '{ "secretKey": hunter2 }', 'column 16 should have a value'],
    [{}, '{ "secretKey": "hunter2", }', 'column 27 should have a name'],
    [{}, '{} {}', 'column 4 should have the end of the file'],
    [
      {},
      '{ "secretKey": ["hunter2", {"a": [1e3, true}',
      'column 44 should have a comma, or the closing',
    ],
    [{}, '', 'line 1, column 1 should have a value'],
    [{}, '[]', 'must hold one JSON object'],
    [{}, '{ "baseURL": "https://example.com" }', 'unknown name "baseURL"; did you mean "baseUrl"?'],
    [{}, '{ "password": "hunter2" }', 'unknown name "password"; known names: baseUrl'],
    [{}, '{ "baseUrl": 5 }', '"baseUrl" must be a string'],
    [{}, '{ "apiVersion": "v4" }', 'the API version is v2 or v3, not "v4"'],
    [{ CALLS_CONFIG: 'nowhere.json' }, undefined, 'nowhere.json; it was named by CALLS_CONFIG'],
    [
      { CALLS_BASE_URL: 'api.example.com' },
      undefined,
      'CALLS_BASE_URL must be a URL that begins with',
    ],
    [
      { CALLS_BASE_URL: 'https://me:hunter2@x.example' },
      undefined,
      'CALLS_BASE_URL must not have credentials',
    ],
    [{ CALLS_TIME_ZONE: 'Eastern' }, undefined, 'CALLS_TIME_ZONE: there is no time zone "Eastern"'],
    ...['0s', '30', 'long', '-1m'].map((text): [Record<string, string>, undefined, string] => [
      { CALLS_TIMEOUT: text },
      undefined,
      `CALLS_TIMEOUT must be a duration such as 30s or 5m, not "${text}"`,
    ]),
    [{ CALLS_SECRET_KEY_FILE: 'nowhere' }, undefined, 'nowhere cannot be read (ENOENT)'],
    [{}, '{ "secretKeyFile": "calls.config.json/x" }', 'cannot be read (ENOTDIR)'],
  ] as [Record<string, string>, string | undefined, string][])(
    '%j and %j',
    (env, config, expected) => {
      const { problems } = read(env, config);
      const [problem, more] = problems.map(({ message, hint }) =>
        [message, hint].filter(Boolean).join('; '),
      );
      expect(problem).toContain(expected);
      expect(problem).not.toContain('hunter2');
      expect(more).toBeUndefined();
    },
  );
  test('every string that JSON.parse refuses gets a position', () => {
    for (const text of [
      '{"a":1,}',
      '["a"',
      '"a\nb"',
      '{"a":01}',
      '{"a":truely}',
      '[1,,2]',
      '\u00a0{}',
    ])
      expect(read({}, text).problems[0]?.message, text).toContain('is not JSON');
  });
});

describe('credentials', () => {
  test('credentials come from variables, from files named by them, and from files that the configuration names', () => {
    const cwd = folder({
      'calls.config.json': JSON.stringify({ bearerTokenFile: 'keys/token', accessKey: 'written' }),
      'keys/token': 'token\r\n',
      secret: '\ufeffkey-two\n',
    });
    const env = { CALLS_SECRET_KEY_FILE: 'secret', CALLS_CONFIG: 'calls.config.json' };
    const settings = readSettings({ env, cwd });
    expect(settings.secret('bearerToken')).toMatchObject({ value: 'token', origin: 'key file' });
    expect(settings.secret('secretKey')).toMatchObject({
      value: 'key-two',
      from: join(cwd, 'secret'),
    });
    expect(settings.secret('accessKey')).toMatchObject({ value: 'written', origin: 'file' });
    expect(JSON.stringify(settings)).not.toContain('key-two');
  });
  test('v3 prefers keys, v2 takes the token, and the SMS listing always takes keys', () => {
    const env = {
      CALLS_BASE_URL: url,
      CALLS_ACCESS_KEY: 'one',
      CALLS_SECRET_KEY: 'two',
      CALLS_BEARER_TOKEN: 'three',
    };
    const v3 = connectionOf(read(env));
    expect([v3.auth?.kind, v3.legacyAuth?.kind]).toEqual(['keys', 'keys']);
    const v2 = connectionOf(read({ ...env, CALLS_API_VERSION: 'v2' }));
    expect([v2.auth?.kind, v2.legacyAuth?.kind]).toEqual(['bearer', 'keys']);
    const client = createClient(v2);
    expect([client.baseUrl, client.version]).toEqual([url, 'v2']);
  });
  test.each([
    [{}, ['baseUrl', 'accessKey', 'secretKey']],
    [{ CALLS_BASE_URL: url, CALLS_ACCESS_KEY: 'one' }, ['secretKey']],
    [{ CALLS_BASE_URL: url, CALLS_BEARER_TOKEN: 'three' }, []],
    [
      { CALLS_API_VERSION: 'v2', CALLS_ACCESS_KEY: 'one', CALLS_SECRET_KEY: 'two' },
      ['baseUrl', 'bearerToken'],
    ],
  ] as [Record<string, string>, string[]][])('with %j these are missing: %j', (env, names) => {
    expect(missingSettings(read(env)).map(({ of }) => of)).toEqual(names);
  });

  test('secrets leave the environment that they are taken from, and the copy does not print them', () => {
    const plain = {
      HOME: '/home/me',
      CALLS_BASE_URL: url,
      CALLS_ACCESS_KEY_FILE: '/run/secrets/access',
      CALLS_OWN_STORE: 'postgres://me@db/calls',
      OTHER_KEY: 'not ours',
    };
    const secrets = {
      CALLS_ACCESS_KEY: 'hidden-1',
      CALLS_SECRET_KEY: 'hidden-2',
      CALLS_BEARER_TOKEN: 'hidden-3',
      CALLS_MCP_TOKEN: 'hidden-4',
      CALLS_MCP_PSEUDONYM_KEY: 'hidden-5',
      CALLS_MIRROR_STORE: 'postgres://me:hidden-6@db/calls',
      CALLS_OTHER_STORE: 'postgres://me@db/calls?password=hidden-7',
      PGPASSWORD: 'hidden-8',
    };
    const process: Record<string, string | undefined> = { ...plain, ...secrets };
    const env = takeEnvironment(process);
    expect(process).toEqual(plain);
    expect({ ...env }).toEqual({ ...plain, ...secrets });
    expect(inspect(env, { showHidden: true })).not.toContain('hidden');
    expect(readSettings({ env }).secret('secretKey')).toMatchObject({
      value: 'hidden-2',
      from: 'CALLS_SECRET_KEY',
    });
  });
});

describe('accounts', () => {
  const main = { accessKeyFile: 'main.access', secretKeyEnv: 'CALLS_MAIN_SECRET_KEY' };
  const berlin = {
    id: '102',
    baseUrl: `${url}/de`,
    apiVersion: 'v2',
    bearerTokenEnv: 'CALLS_BERLIN_TOKEN',
  };
  const config = { baseUrl: url, timeZone: 'UTC', accounts: { main, berlin } };
  const variables = { CALLS_MAIN_SECRET_KEY: 'main-secret', CALLS_BERLIN_TOKEN: 'berlin-token' };

  /** A folder with this configuration, and what is read there. */
  function accountsIn(config: object, env: Record<string, string> = variables) {
    const cwd = folder({
      'calls.config.json': JSON.stringify(config),
      'main.access': 'main-access',
    });
    const source = { cwd, config: 'calls.config.json', env: { HOME: cwd, ...env } };
    return {
      source,
      all: (names: readonly string[] | 'all' = 'all') => readAccounts(names, source),
    };
  }

  test('each account has its own credentials, URL and version, and inherits the rest', () => {
    const { all } = accountsIn(config);
    const [first, second] = all();
    expect(first?.account).toEqual({ name: 'main', id: 'main' });
    expect(first?.secret('accessKey')).toMatchObject({ value: 'main-access', origin: 'key file' });
    expect(first?.secret('secretKey')).toMatchObject({
      value: 'main-secret',
      from: 'CALLS_MAIN_SECRET_KEY',
    });
    expect(connectionOf(first as Settings)).toMatchObject({ baseUrl: url, version: 'v3' });
    expect(second?.account).toEqual({ name: 'berlin', id: '102' });
    expect(connectionOf(second as Settings)).toMatchObject({ baseUrl: `${url}/de`, version: 'v2' });
    expect(second?.timeZone?.value).toBe('UTC');
    expect([first, second].flatMap((settings) => settings?.problems)).toEqual([]);
    expect(all(['berlin', 'berlin']).map(({ account }) => account?.name)).toEqual(['berlin']);
  });
  test('an account comes before the environment and after the options', () => {
    const { source } = accountsIn(config, { ...variables, CALLS_BASE_URL: `${url}/env` });
    expect(readSettings({ ...source, account: 'berlin' }).baseUrl?.value).toBe(`${url}/de`);
    expect(readSettings({ ...source, account: 'main' }).baseUrl?.value).toBe(`${url}/env`);
    const options = { baseUrl: `${url}/option` };
    expect(readSettings({ ...source, options, account: 'berlin' }).baseUrl?.value).toBe(
      `${url}/option`,
    );
  });
  test('credentials outside of an account are never used for it', () => {
    const outside = { CALLS_ACCESS_KEY: 'a', CALLS_SECRET_KEY: 'b', CALLS_BEARER_TOKEN: 'c' };
    const accounts = { main: { accessKeyFile: 'main.access' }, empty: {} };
    const { source, all } = accountsIn({ baseUrl: url, accessKey: 'd', accounts }, outside);
    for (const settings of [...all(), readSettings({ ...source, account: 'unknown' })]) {
      expect(settings.secret('secretKey')).toBe(null);
      expect(settings.secret('bearerToken')).toBe(null);
      expect(connectionOf(settings)).not.toHaveProperty('auth');
    }

    const missing = all().flatMap(missingSettings);
    expect(missing.map(({ message }) => message)).toEqual([
      'account "main" has no secret key',
      'account "empty" has no access key',
      'account "empty" has no secret key',
    ]);
    expect(missingSettings(all(['main'])[0] as Settings)[0]?.hint).toBe(
      'name a file with "secretKeyFile", a command that prints it with "secretKeyCommand", or an environment variable with "secretKeyEnv": "CALLS_MAIN_SECRET_KEY"',
    );
    expect(connectionOf(readSettings(source)).auth?.kind).toBe('keys');
  });
  test('a command prints a credential, once, when it is asked for', () => {
    const runs = join(folder(), 'runs');
    const accessKeyCommand = `echo x >> '${runs}'; echo main-access`;
    const accounts = {
      main: { accessKeyCommand, secretKeyEnv: 'CALLS_MAIN_SECRET_KEY' },
      none: { bearerTokenCommand: 'hunter2=1; exit 3' },
      two: { bearerTokenCommand: 'printf "a\\nb"' },
    };
    const { source, all } = accountsIn({ baseUrl: url, accounts });
    const settings = readSettings({ ...source, account: 'main' });
    expect(existsSync(runs)).toBe(false);
    expect(settings.secret('accessKey')).toMatchObject({ value: 'main-access', origin: 'command' });
    const from = /^accessKeyCommand of account "main" in .*calls\.config\.json$/;
    expect(settings.secret('accessKey')?.from).toMatch(from);
    expect(readFileSync(runs, 'utf8')).toBe('x\n');
    expect(() => readSettings({ ...source, account: 'none' }).secret('bearerToken')).toThrow(
      /bearerTokenCommand of account "none" in .*: the command ended with status 3; run it in a shell/,
    );
    const two = readSettings({ ...source, account: 'two' });
    expect(() => two.secret('bearerToken')).toThrow(/more than one line/);
    expect(all().map(({ problems }) => problems.map(({ place, of }) => `${place} ${of}`))).toEqual([
      [],
      ['setting accessKey'],
      ['setting accessKey'],
    ]);
    expect(JSON.stringify(all())).not.toContain('hunter2');
  });
  const ofMain: readonly [object | string, string][] = [
    [
      { secretKey: 'hunter2' },
      'account "main" has its "secretKey" in clear, which is refused; name a',
    ],
    [
      { secretKeyEnv: 'hunter2' },
      '"secretKeyEnv" must name an environment variable that begins with',
    ],
    [
      { secretKeyEnv: 'AWS_SECRET_ACCESS_KEY' },
      'must name an environment variable that begins with',
    ],
    [
      { secretKeyEnv: 'CALLS_NO_KEY' },
      'account "main": the environment variable CALLS_NO_KEY is not',
    ],
    [{ bearerTokenFile: 'nowhere' }, 'bearerTokenFile of account "main" in'],
    [
      { ...main, accessKeyEnv: 'CALLS_MAIN_SECRET_KEY' },
      'has both "accessKeyFile" and "accessKeyEnv"',
    ],
    [{ baseURL: url }, 'unknown name "baseURL"; did you mean "baseUrl"?'],
    [{ baseUrl: 'x' }, 'account "main" in'],
    [{ timeZone: 5 }, '"timeZone" must be a string'],
    [{ id: 'a b' }, '"id" is 1 to 64 letters'],
    ['hunter2', 'account "main" must be an object'],
  ];
  test.each([
    ...ofMain.map(([account, expected]): [object, string] => [{ main: account }, expected]),
    [{ 'a b': {} }, 'account "a b": a name is 1 to 64'],
    [['hunter2'], '"accounts" must be an object'],
    [{}, 'has no accounts'],
    [{ main, 102: { ...main, id: 'main' } }, 'accounts "102" and "main" have the same ID main'],
    [
      { 102: { ...main, id: '101' }, boston: { ...main, id: '102' } },
      'account "102" is named like the ID of account "boston"',
    ],
    [
      { boston: { ...main, id: 'MAIN' }, main: { ...main, id: '101' } },
      'account "main" is named like the ID of account "boston"',
    ],
    [{ main, other: main }, 'accounts "main" and "other" have the same credentials'],
  ] as [object, string][])('%j is refused with a way out', (accounts, expected) => {
    const { problems = [] } = accountsIn({ baseUrl: url, accounts }).all().at(-1) ?? {};
    const [problem] = problems.map(({ message, hint }) =>
      [message, hint].filter(Boolean).join('; '),
    );
    expect(problem).toContain(expected);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });
  test('an account is named by its name or by its ID, and is one account then', () => {
    const accounts = { main: { ...main, id: '101' }, other: { ...main, id: '102' } };
    const { all, source } = accountsIn({ baseUrl: url, default: '102', accounts });
    expect(all(['101', 'main']).map(({ account }) => account?.name)).toEqual(['main']);
    for (const account of ['102', undefined])
      expect(readSettings({ ...source, account }).account?.name).toBe('other');
  });
  test('an account that does not exist is answered with the nearest name', () => {
    const { all } = accountsIn(config);
    expect(all(['mian'])[0]?.problems[0]).toMatchObject({
      place: 'file',
      hint: 'did you mean main?',
    });
    expect(all(['x'])[0]?.problems[0]?.hint).toBe('it has main, berlin');
  });
});

describe('annotations', () => {
  const file = (annotations: unknown) => JSON.stringify({ baseUrl: url, annotations });
  const page = { date: '2026-10-05', text: 'new landing page', account: 'main' };
  const strike = { date: '2026-09-30', text: 'strike' };

  test('are in the order of their days, and belong to a period and to accounts by name or ID', () => {
    const accounts = { main: { id: '101' }, boston: { id: '102' } };
    const settings = read({}, JSON.stringify({ accounts, annotations: [page, strike] }));
    expect(settings.problems).toEqual([]);
    expect(settings.file?.annotations).toEqual([{ ...strike, account: null }, page]);

    const texts = (from: string | null, to: string | null, ...accounts: string[]) =>
      annotationsOf(settings, { from, to, accounts }).map(({ text }) => text);
    expect(texts(null, null, '101')).toEqual(['strike', 'new landing page']);
    expect(texts(null, null, 'boston')).toEqual(['strike']);
    expect(texts('2026-10-05 00:00:00', '2026-10-06 00:00:00', 'main')).toEqual([
      'new landing page',
    ]);
    expect(texts('2026-10-01', '2026-10-05 00:00:00', 'main')).toEqual([]);
    expect(texts('2026-10-05 12:00:00', null, '101', '102')).toEqual(['new landing page']);
  });

  test.each<[unknown, RegExp]>([
    [{}, /"annotations" must be a list/],
    [['x'], /annotations\[0\] must be an object/],
    [[strike, { ...page, date: '2026-02-30' }], /annotations\[1\] needs a "date" such as/],
    [[{ ...page, text: ' ' }], /annotations\[0\] needs a "text" of at most 200 characters/],
    [[{ ...page, text: 'a\nb' }], /annotations\[0\] has a "text" with a line break/],
    [[{ ...page, account: 101 }], /annotations\[0\] has an "account" that is no text/],
    [[{ ...page, dat: 1 }], /annotations\[0\] has an unknown name "dat"; did you mean "date"\?/],
  ])('%j is refused with its place', (annotations, message) => {
    const [problem] = read({}, file(annotations)).problems;
    expect(problem).toMatchObject({ place: 'file', message: expect.stringMatching(message) });
    expect(problem?.hint).toMatch(/it looks like \{ "date": "2026-10-05"/);
  });
});

describe('rules with a name', () => {
  const rulesIn = (rules: unknown) => {
    const cwd = folder({ 'calls.config.json': JSON.stringify({ rules }) });
    const { file, problems } = readSettings({ config: 'calls.config.json', cwd, env: {} });
    return { cwd, rules: file?.rules, problems: problems.map(({ message }) => message) };
  };

  test('are files beside the configuration file, each with what belongs to it', () => {
    const { cwd, rules, problems } = rulesIn({
      leads: 'rules.json',
      sent: { file: '/etc/rules.json', ledger: 'uploads.ledger', conversionName: 'Lead' },
    });
    expect(problems).toEqual([]);
    expect(rules).toEqual({
      leads: { file: join(cwd, 'rules.json'), ledger: null, conversionName: '' },
      sent: {
        file: '/etc/rules.json',
        ledger: join(cwd, 'uploads.ledger'),
        conversionName: 'Lead',
      },
    });
  });

  test.each([
    ['rules.json', /"rules" must be an object of files by their names/],
    [{ leads: 3 }, /rules\.leads must name a file/],
    [{ leads: '' }, /rules\.leads must name a file/],
    [{ leads: { ledger: 'x' } }, /rules\.leads must name a file/],
    [{ leads: { file: 'x', path: 'y' } }, /rules\.leads must name a file/],
    [{ 'a b': 'rules.json' }, /rules\.a b must name a file/],
  ])('are refused otherwise: %j', (wrong, message) => {
    const { rules, problems } = rulesIn(wrong);
    expect(rules).toEqual({});
    expect(problems).toEqual([expect.stringMatching(message)]);
  });
});
