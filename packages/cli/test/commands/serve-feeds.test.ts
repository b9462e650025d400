import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { freePort, openOwnStage } from '../stage.ts';

const stage = await openOwnStage({ records: 300, days: 20, to: '2026-11-21 07:00:00' });
const folder = stage.folder();
afterAll(() => stage.close());

const account = stage.sandbox.accounts[0]?.id ?? '';
const secret = { CALLS_FEED_PASSWORD: 'correct horse battery' };
const basic = { authorization: `Basic ${Buffer.from('google:correct horse battery').toString('base64')}` };
const feed = {
  path: '/feeds/clicks.csv',
  format: 'google-ads-clicks',
  account,
  window: '14d',
  conversionName: 'Phone lead',
  user: 'google',
  passwordEnv: 'CALLS_FEED_PASSWORD',
};
const { user: _, passwordEnv: __, ...open } = feed;

function feedFile(name: string, ...feeds: object[]): string {
  writeFileSync(join(folder, name), JSON.stringify({ timeZone: 'America/New_York', feeds }));
  return name;
}

const quiet = ['--config', 'quiet.json'];
writeFileSync(join(folder, 'quiet.json'), '{ "service": { "log": "off" } }');

/** Runs a command that goes on until it is stopped, and tries it while it runs. */
async function during(
  args: readonly string[],
  attempt: (url: string) => Promise<void>,
  env: Record<string, string> = {},
) {
  const port = await freePort();
  const stop = new AbortController();
  const ended = stage.quick([...args, '--port', String(port)], {
    cwd: folder,
    env: { ...secret, ...env },
    signal: stop.signal,
  });
  const url = `http://127.0.0.1:${port}`;
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  try {
    for (;;) {
      const response = await fetch(`${url}/readyz`).catch(() => null);
      if (response?.status === 200) break;
      if (isOver) throw new Error((await ended).stderr);
      await new Promise((done) => setTimeout(done, 20));
    }
    await attempt(url);
  } finally {
    stop.abort();
  }
  return ended;
}

describe('calls sync --status-port', () => {
  test('it serves health and metrics while the sync repeats', async () => {
    const port = await freePort();
    const stop = new AbortController();
    const args = ['sync', '--store', 'sqlite:status.db', '--every', '1h', '--status-port', String(port)];
    const ended = stage.quick(args, { cwd: folder, env: secret, signal: stop.signal });
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
    while ((await get('/readyz'))?.status !== 200) await new Promise((done) => setTimeout(done, 20));
    expect((await get('/healthz'))?.status).toBe(200);
    expect((await get('/other'))?.status).toBe(404);
    const metrics = await (await get('/metrics'))?.text();
    expect(metrics).toMatch(/^calls_sync_rows_total\{kind="new"\} [1-9]\d*$/m);
    expect(metrics).toMatch(/^calls_sync_lag_seconds 0$/m);
    stop.abort();
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`health and metrics on http://127.0.0.1:${port}`),
    ]);
    expect(await get('/healthz')).toBeNull();
  });

  test('without --every it is refused', async () => {
    const args = ['sync', '--store', 'sqlite:status.db', '--status-port', '0'];
    const { code, stderr } = await stage.quick(args, { cwd: folder, env: secret });
    expect([code, stderr]).toEqual([2, expect.stringContaining('add --every')]);
  });
});

describe('calls serve --every', () => {
  test('it syncs, serves the feed, reports health and metrics, and stops at Ctrl-C', async () => {
    const file = feedFile('feeds.json', feed);
    const args = ['serve', '--feeds', file, '--store', 'sqlite:fresh.db', '--every', '1h'];
    const { code, stderr, stdout } = await during(args, async (url) => {
      expect((await fetch(url + feed.path)).status).toBe(401);
      const response = await fetch(url + feed.path, { headers: basic });
      const lines = (await response.text()).trim().split('\r\n');
      expect(lines[0]).toMatch(/^Google Click ID,/);
      expect(lines.length).toBeGreaterThan(5);
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toMatch(/^calls_sync_runs_total\{result="ok"\} 1$/m);
      expect(metrics).toMatch(/^calls_sync_lag_seconds 0$/m);
      expect(metrics).toContain(`calls_feed_rows{feed="${feed.path}"} ${lines.length - 1}`);
    });
    expect([code, stdout]).toEqual([0, '']);
    const log = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(log.find(({ message }) => message === 'synced')).toMatchObject({
      account,
      changed: 0,
      skipped: 0,
    });
    expect(log.find(({ rows }) => rows !== undefined)).toMatchObject({
      route: feed.path,
      status: 200,
      user: 'google',
    });
    expect(stderr).not.toContain('correct horse');
  });

  test('a feed without a time zone has that of the configuration file', async () => {
    writeFileSync(
      join(folder, 'zoned.json'),
      '{ "timeZone": "America/New_York", "service": { "log": "off" } }',
    );
    writeFileSync(join(folder, 'no-zone.json'), JSON.stringify({ feeds: [open] }));
    const args = ['serve', '--feeds', 'no-zone.json', '--store', 'sqlite:fresh.db', '--config'];
    const { code } = await during(
      [...args, 'zoned.json'],
      async (url) => {
        expect((await fetch(url + feed.path)).status).toBe(200);
      },
      { CALLS_TIME_ZONE: '' },
    );
    expect(code).toBe(0);
    const without = await stage.quick([...args, 'quiet.json'], { cwd: folder, env: { CALLS_TIME_ZONE: '' } });
    expect([without.code, without.stderr]).toEqual([2, expect.stringMatching(/time ?zone/i)]);
  });

  test('it is not ready while the API does not respond, and says so', async () => {
    const file = feedFile('feeds.json', feed);
    stage.sandbox.faults.set('*', 'status=503');
    const port = await freePort();
    const stop = new AbortController();
    const line = `serve --feeds ${file} --store sqlite:down.db --every 15m --port ${port}`;
    const ended = stage.quick(line, { cwd: folder, env: secret, signal: stop.signal });
    let text = '';
    while (!text.includes('no sync')) {
      text = await fetch(`http://127.0.0.1:${port}/readyz`).then(
        (response) => response.text(),
        () => '',
      );
      await new Promise((done) => setTimeout(done, 20));
    }
    expect(text).toBe('no sync has finished yet\n');
    stop.abort();
    expect((await ended).code).toBe(0);
    stage.sandbox.faults.clear();
  });

  test('what it is missing is said before anything is read', async () => {
    const refused = async (args: readonly string[], env = {}) => {
      const all = ['serve', '--every', '1h', '--store', 'sqlite:none.db', ...args];
      const run = await stage.quick(all, { cwd: folder, env });
      expect(run.code).toBe(2);
      return run.stderr;
    };
    expect(await refused(['--feeds', 'nowhere.json'])).toContain(
      '--feeds: cannot read nowhere.json (ENOENT)',
    );
    const two = feedFile('two.json', feed, { ...feed, path: '/b.csv', account: '999' });
    expect(await refused(['--feeds', two], secret)).toContain(
      'there are feeds of account 999, and what is synced is account',
    );
    const unset = feedFile('unset.json', feed);
    expect(await refused(['--feeds', unset])).toContain(
      'passwordEnv names CALLS_FEED_PASSWORD, which holds no password',
    );
  });

  test.each(['sqlite:plain.db', 'named.db'])(
    'without feeds it keeps the copy of CALLS_STORE up to date: %s',
    async (store) => {
      const headers = {
        access_key: stage.env.CALLS_ACCESS_KEY ?? '',
        secret_key: stage.env.CALLS_SECRET_KEY ?? '',
      };
      const look = async (url: string): Promise<void> => {
        const metrics = await (await fetch(`${url}/metrics`)).text();
        expect(metrics).toMatch(/^calls_sync_runs_total\{result="ok"\} 1$/m);
        const list = await fetch(`${url}/v3/user/bid-management?q=inc_gce:1&rows=1`, { headers });
        expect(list.headers.get('content-range')).toBe('1-1/300');
      };
      const { code, stderr } = await during(['serve', '--every', '1h'], look, { CALLS_STORE: store });
      expect([code, stderr]).toEqual([0, expect.stringContaining('"message":"synced"')]);
    },
  );

  test.each([
    ['--store sqlite:x.db --lookback 1d', '--lookback goes with --every'],
    ['--account 101', '--account goes with --every'],
    ['--every 1h --lookback 1d --sandbox', '--every is for your own store; remove --every or --sandbox'],
    ['--every 1h --records 5', '--records is for the sandbox'],
    ['--every 1h', 'calls serve --every needs a store: --store sqlite:calls.db'],
    ['--every soon --store sqlite:x.db', '--every must be'],
  ])('serve %s is refused', async (options, said) => {
    const { code, stderr } = await stage.quick(`serve ${options}`, { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  });
});

describe('calls serve --feeds', () => {
  test('it serves feeds next to the API, from a store', async () => {
    const file = feedFile('feeds.json', feed);
    const store = 'sqlite:serve.db';
    await stage.quick(['sync', '--store', store], { cwd: folder });
    await during(['serve', '--store', store, '--feeds', file, ...quiet], async (url) => {
      const response = await fetch(url + feed.path, { headers: basic });
      expect([store, response.status]).toEqual([store, 200]);
      expect((await response.text()).split('\r\n').length).toBeGreaterThan(5);
      expect((await fetch(`${url}/v3/user/bid-management?rows=1`)).status).toBe(401);
    });
  });

  test('it makes the hash of a password for the file', async () => {
    const run = (input: string) => stage.quick(['serve', '--hash-password'], { cwd: folder, input });
    const { stdout } = await run('correct horse battery\n');
    expect(stdout).toMatch(/^scrypt\$16384\$8\$1\$[^$]+\$[^$]+\n$/);
    const { passwordEnv: _hidden, ...hashed } = { ...feed, passwordHash: stdout.trim() };
    await stage.quick(['sync', '--store', 'sqlite:serve.db'], { cwd: folder });
    const args = ['serve', '--store', 'sqlite:serve.db', '--feeds', feedFile('hash.json', hashed), ...quiet];
    await during(args, async (url) => {
      expect((await fetch(url + feed.path, { headers: basic })).status).toBe(200);
    });
    expect((await run('short\n')).stderr).toContain('must have at least 12 characters');
  });

  test('a feed without a password for others, or of another account, is refused at start', async () => {
    await stage.quick(['sync', '--store', 'sqlite:serve.db'], { cwd: folder });
    const refused = async (file: string, ...args: string[]) => {
      const all = ['serve', '--store', 'sqlite:serve.db', '--feeds', file, '--port', '0', ...args];
      const run = await stage.quick(all, { cwd: folder, env: secret });
      expect(run.code).toBe(2);
      return run.stderr;
    };
    const bare = feedFile('open.json', open);
    expect(await refused(bare, '--host', '0.0.0.0')).toContain('The feed /feeds/clicks.csv has no password');
    const strange = feedFile('strange.json', { ...feed, account: '999' });
    expect(await refused(strange)).toContain(
      'the feed /feeds/clicks.csv is of account 999, which is not in the store',
    );
  });
});
