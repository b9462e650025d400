import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Finished } from './program.ts';
import { openStage } from './stage.ts';

const stage = openStage();
afterAll(() => stage.close());

/** A server on loopback that treats every request alike. */
async function serverThat(
  respond: (response: ServerResponse) => unknown,
): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((_, response) => respond(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const nobody = {
  CALLS_BASE_URL: '',
  CALLS_LEGACY_BASE_URL: '',
  CALLS_ACCESS_KEY: '',
  CALLS_SECRET_KEY: '',
  CALLS_TIME_ZONE: '',
};

const typed: [string, string[], RegExp[]][] = [
  ['an unknown command', ['lst'], [/no command "lst"/, /did you mean calls list/]],
  ['an unknown option', ['list', '--colums', 'sid'], [/no option --colums/, /did you mean --columns/]],
  ['an option before the command', ['--json', 'list'], [/needs a command before --json/]],
  ['a key as an option', ['list', '--secret-key', 'hunter2'], [/never taken from flags/, /CALLS_SECRET_KEY/]],
  [
    'a filter cut short',
    ['list', '--q', 'date_added:[2026-10-01 00:00:00 TO'],
    [/the filter has a mistake/, /\n {2} +\^/],
  ],
  ['a field that is none', ['count', '--q', 'talk_minute:[5 TO *]'], [/talk_minutes/, /\n {2}\^{11}\n/]],
  [
    'a keyword in lower case',
    ['count', '--q', 'talk_minutes:[1 to 2]'],
    [/try: --q 'talk_minutes:\[1 TO 2\]'/],
  ],
  [
    'a relative date without a zone',
    ['list', '--from', '7d'],
    [/needs a time zone/, /--time-zone America\/New_York/],
  ],
  ['a zone that is none', ['list', '--time-zone', 'EST5', '--from', '1d'], [/no time zone "EST5"/]],
  [
    'a range that is empty',
    ['count', '--from', '2026-10-02', '--until', '2026-10-01'],
    [/the range is empty/],
  ],
  ['two ends', ['count', '--to', '2026-10-02', '--until', '2026-10-01'], [/mean the same/]],
  ['a day and an end', ['count', '--on', '2026-10-02', '--from', '2026-10-01'], [/--on is a whole day/]],
  ['a column that is none', ['list', '--columns', 'sid,anni'], [/no field "anni"/, /did you mean ani/]],
  ['two formats', ['list', '--json', '--csv'], [/exclude each other/]],
  ['all and a limit', ['list', '--all', '-n', '5'], [/--all shows every call/]],
  ['an address that is none', ['list', '--base-url', 'example.com'], [/begins with https/]],
  [
    'an address with a password',
    ['list', '--base-url', 'https://me:hunter2@example.com'],
    [/must not have credentials in it/],
  ],
  ['an export without a file', ['export'], [/needs a file/]],
  ['a time where the file belongs', ['export', '--to', '7d'], [/--to is the file/, /--until 7d/]],
  ['an ending that says nothing', ['export', '--to', 'calls.txt'], [/ending does not say the format/]],
  ['gzip in Parquet', ['export', '--to', 'calls.parquet.gz'], [/compressed inside/]],
  [
    'a sheet without a zone',
    ['export', '--for', 'sa360', '--to', 'x.csv', '--conversion-name', 'x'],
    [/needs a time zone/],
  ],
  [
    'a sheet without a name',
    ['export', '--for', 'sa360', '--to', 'x.csv', '--time-zone', 'UTC'],
    [/needs --conversion-name/],
  ],
  [
    'a currency that is none',
    [
      'export',
      '--for',
      'sa360',
      '--to',
      'x',
      '--time-zone',
      'UTC',
      '--conversion-name',
      'x',
      '--currency',
      'usd',
    ],
    [/three letters/],
  ],
  [
    'two values',
    [
      'export',
      '--for',
      'sa360',
      '--to',
      'x',
      '--time-zone',
      'UTC',
      '--conversion-name',
      'x',
      '--value',
      '1',
      '--value-rules',
      'r',
    ],
    [/not both/],
  ],
  ...(
    [
      ['a currency without a value', ['--currency', 'USD'], [/--currency needs a value/]],
      ['one file for the sheet and what is not in it', ['--left-out', './x'], [/name the same file/]],
    ] as const
  ).map(([what, more, said]): [string, string[], RegExp[]] => [
    what,
    ['export', '--for', 'sa360', '--to', 'x', '--time-zone', 'UTC', '--conversion-name', 'x', ...more],
    [...said],
  ]),
  ['a value without a sheet', ['export', '--to', 'x.csv', '--value', '1'], [/--value is for upload sheets/]],
  [
    'columns in a sheet',
    ['export', '--for', 'skai', '--to', 'x.csv', '--time-zone', 'UTC', '--columns', 'sid'],
    [/cannot be used with --for/],
  ],
  [
    'a group that is none',
    ['report', '--by', 'campain'],
    [/cannot group by "campain"/, /did you mean campaign/],
  ],
  ['three groups', ['report', '--by', 'day,channel,label'], [/one or two groups/]],
  ['personal data in a page', ['report', '--by', 'ani', '--html', 'x.html'], [/personal data/]],
  ['an unknown shell', ['completion', 'tcsh'], [/cannot be "tcsh"/, /bash, zsh, fish/]],
  [
    'sandbox options with a store',
    ['serve', '--store', 'sqlite::memory:', '--records', '5'],
    [/belongs to the sandbox/],
  ],
];
test.each(typed)(
  '%s is told before keys are asked for, with status 2 and empty stdout',
  async (_, args, said) => {
    const { code, stdout, stderr } = await stage.quick(args, {
      env: { ...nobody, CALLS_BASE_URL: stage.url },
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const text of said) expect(stderr).toMatch(text);
    expect(stderr).not.toContain('hunter2');
    expect(stderr).not.toMatch(/\bat .*\.js:\d+/);
  },
);

test('as a process, a slip ends the same way: an unknown option, a bad filter, no keys', async () => {
  const option = await stage.calls(['list', '--colums', 'sid']);
  expect(option).toMatchObject({ code: 2, stdout: '' });
  expect(option.stderr).toMatch(/no option --colums\n {2}→ did you mean --columns/);
  const filter = await stage.quick(['count', '--q', 'talk_minutes:[1 to 2]']);
  expect(filter).toMatchObject({ code: 2, stdout: '' });
  expect(filter.stderr).toMatch(
    /\n {2}talk_minutes:\[1 to 2\]\n {18}\^\^\n {2}→ try: --q 'talk_minutes:\[1 TO 2\]'\n$/,
  );
  expect(await stage.quick(['count'], { env: nobody })).toMatchObject({ code: 2, stdout: '' });
});

describe('the server', () => {
  test('with a wrong key: status 4, what is expected, and no key in the text', async () => {
    const { code, stderr } = await stage.quick(['count', '--debug'], {
      env: { CALLS_SECRET_KEY: 'wrong-key-4711' },
    });
    expect(code).toBe(4);
    expect(stderr).toMatch(/401/);
    expect(stderr).toMatch(/secret_key/);
    expect(stderr).toMatch(/calls check/);
    expect(stderr).not.toContain('wrong-key-4711');
    expect(stderr).not.toContain(stage.env.CALLS_ACCESS_KEY);
  });

  test('that is down: status 5 and where it was looked for', async () => {
    const { code, stderr } = await stage.quick(['count'], { env: { CALLS_BASE_URL: 'http://127.0.0.1:1' } });
    expect(code).toBe(5);
    expect(stderr).toMatch(/http:\/\/127\.0\.0\.1:1/);
    expect(stderr).toMatch(/Is the server running/);
  });

  test('that answers with a login page: status 1, and no page in the terminal', async () => {
    const page = '<!doctype html><html><body>Please log in</body></html>';
    const server = await serverThat((response) => response.setHeader('content-type', 'text/html').end(page));
    const { code, stdout, stderr } = await stage.quick(['count'], { env: { CALLS_BASE_URL: server.url } });
    server.close();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).not.toMatch(/<html|<body/i);
  });

  test('that goes silent: status 5 after the time that was given', async () => {
    const server = await serverThat(() => {});
    const env = { CALLS_BASE_URL: server.url };
    const { code, stderr } = await stage.quick(['count', '--timeout', '0.2'], { env });
    server.close();
    expect(code).toBe(5);
    expect(stderr).toMatch(/calls check/);
  });
});

test('a store that cannot be opened is named in one line', async () => {
  for (const store of ['nosuch:x', 'sqlite:/nowhere/calls.db', 'postgres://nobody@127.0.0.1:1/calls']) {
    const { code, stdout, stderr } = await stage.quick(['sync', '--store', store]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  }
  const sms = await stage.quick(['sms'], { env: { CALLS_LEGACY_BASE_URL: '' } });
  expect(sms).toMatchObject({ code: 2, stdout: '' });
  expect(sms.stderr).toMatch(/set CALLS_LEGACY_BASE_URL/);
});

test.skipIf(process.platform === 'win32')(
  'Ctrl-C ends any command with status 130 and one word',
  async () => {
    // A server that takes a request and never responds: the moment to press is when it has one.
    let stop = (): unknown => undefined;
    const silent = await serverThat(() => stop());
    const env = { CALLS_BASE_URL: silent.url };
    const isStopped = (args: string[], { code, stderr }: Finished): void => {
      expect({ args, code }).toEqual({ args, code: 130 });
      expect(stderr).toMatch(/calls: stopped\n$/);
    };
    const args = ['list', '--all', '--ndjson'];
    const started = (child: ChildProcess): void => {
      stop = () => child.kill('SIGINT');
    };
    isStopped(args, await stage.calls(args, { env, started }));
    for (const args of [['count'], ['get', 'x'], ['report']]) {
      const signal = new AbortController();
      stop = () => signal.abort();
      isStopped(args, await stage.quick(args, { env, signal: signal.signal }));
    }
    silent.close();
  },
);

describe('keys', () => {
  test('none at all: status 2 and the ways to set them', async () => {
    const { code, stderr } = await stage.quick(['count'], {
      env: { CALLS_ACCESS_KEY: '', CALLS_SECRET_KEY: '' },
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/CALLS_ACCESS_KEY and CALLS_SECRET_KEY/);
  });

  test('from files that the environment or the configuration names', async () => {
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
    expect((await stage.quick(['count'], { cwd, env: nobody })).code).toBe(0);
    const missing = await stage.quick(['count'], {
      cwd,
      env: { ...byName, CALLS_SECRET_KEY_FILE: 'nowhere' },
    });
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toMatch(/CALLS_SECRET_KEY_FILE: .*nowhere cannot be read/);
  });
});

describe('configuration', () => {
  test('options come before the environment, and the environment before the file', async () => {
    const cwd = stage.folder();
    const wrong = 'http://127.0.0.1:1';
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify({ baseUrl: wrong, timeZone: 'UTC' }));
    const env = { CALLS_BASE_URL: '', CALLS_TIME_ZONE: '' };
    expect((await stage.quick(['count'], { cwd, env })).code).toBe(5);
    expect((await stage.quick(['count'], { cwd, env: { ...env, CALLS_BASE_URL: stage.url } })).code).toBe(0);
    const byOption = await stage.quick(['count', '--base-url', stage.url, '--from', '99999d', '--verbose'], {
      cwd,
      env: { CALLS_BASE_URL: wrong, CALLS_TIME_ZONE: '' },
    });
    expect(byOption.code).toBe(0);
    expect(byOption.stderr).toMatch(/\(--base-url\)/);
    expect(byOption.stderr).toMatch(/UTC \(.*calls\.config\.json\)/);
    expect(byOption.stderr).not.toContain(stage.env.CALLS_SECRET_KEY);
  });

  test('the folder of the user is the last place, and --config the first', async () => {
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
  ])('a file with %s is refused', async (text, said) => {
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'calls.config.json'), text);
    const { code, stderr } = await stage.quick(['count'], { cwd, env: nobody });
    expect(code).toBe(2);
    expect(stderr).toMatch(said);
    expect(stderr).not.toContain('hunter2');
  });
});

describe('check', () => {
  test('goes through everything and ends well', async () => {
    const { code, stdout } = await stage.quick(['check']);
    expect(code).toBe(0);
    for (const item of ['address', 'version', 'access key', 'time zone', 'list', 'count', 'sms']) {
      expect(stdout).toMatch(new RegExp(`ok +${item}`));
    }
    expect(stdout).not.toContain(stage.env.CALLS_SECRET_KEY);
  });

  test('says what to change: no address, wrong key, server down, open file', async () => {
    const none = await stage.quick(['check'], { env: nobody });
    expect(none.code).toBe(2);
    expect(none.stdout).toMatch(/wrong +address +not set\n +→ set CALLS_BASE_URL/);
    const key = await stage.quick(['check', '--json'], { env: { CALLS_SECRET_KEY: 'wrong' } });
    expect(key.code).toBe(4);
    expect(JSON.parse(key.stdout)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([expect.objectContaining({ item: 'list', state: 'wrong' })]),
    });
    expect((await stage.quick(['check'], { env: { CALLS_BASE_URL: 'http://127.0.0.1:1' } })).code).toBe(5);
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify({ secretKey: stage.env.CALLS_SECRET_KEY }));
    chmodSync(join(cwd, 'calls.config.json'), 0o644);
    const open = await stage.quick(['check'], { cwd, env: { CALLS_SECRET_KEY: '' } });
    expect(open.stdout).toMatch(/others can read it\n +→ chmod 600/);
  });
});

test.skipIf(process.platform === 'win32')(
  'a full disk behind stdout is status 7, with the reason',
  async () => {
    const full = openSync('/dev/full', 'w');
    const isFull = (args: string[], { code, stderr }: Finished): void => {
      expect(code, args.join(' ')).toBe(7);
      expect(stderr).toMatch(/no space left on the disk \(ENOSPC\)/);
    };
    const args = ['list', '--csv', '--all'];
    isFull(args, await stage.calls(args, { stdout: full }));
    for (const args of [['export', '--to', '-'], ['report'], ['fields'], ['count']])
      isFull(args, await stage.quick(args, { stdoutFails: 'ENOSPC' }));
  },
);
