import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { generate } from '@call-attribution/sandbox';
import { openStore } from '@call-attribution/store';
import { afterAll, describe, expect, test } from 'vitest';
import { type Live, startLive } from '../live.ts';
import { nobody, openStage } from '../stage.ts';

const stage = openStage();
const folder = stage.folder();
afterAll(() => stage.close());
// Windows has no signals to listen to: a process that receives one just ends.
const stopped = process.platform === 'win32' ? null : 0;
const mirror = `sqlite:${join(folder, 'mirror.db')}`;
const calls = (args: readonly string[], options: { input?: string; env?: Record<string, string> } = {}) =>
  stage.quick(args, { cwd: folder, ...options });
const store = (args: readonly string[], options = {}) =>
  calls(['store', ...args, '--store', mirror], options);

interface Ready {
  readonly url: string;
  readonly legacyUrl: string;
  readonly accounts: readonly Record<string, string>[];
}

async function ready(args: readonly string[], env = {}): Promise<{ ready: Ready; live: Live }> {
  const live = startLive(stage, ['serve', ...args, '--port', '0', '--ready-json'], env, folder);
  const [line] = await live.until(/^\{.*\}\n/);
  return { ready: JSON.parse(line), live };
}

const listPath = '/v3/user/bid-management?q=inc_gce:1&rows=1';
const keysOf = (account: Record<string, string> | undefined) => ({
  access_key: account?.accessKey ?? '',
  secret_key: account?.secretKey ?? '',
});

describe('calls serve', () => {
  test('it serves a sandbox, prints one JSON line about it, and stops at SIGTERM', async () => {
    const { ready: sandbox, live } = await ready(['--records', '50', '--seed', '7', '--accounts', '2']);
    expect(live.said().stdout.trim().split('\n')).toHaveLength(1);
    expect(Object.keys(sandbox)).toEqual(['url', 'legacyUrl', 'accounts']);
    expect(sandbox.accounts.map((account) => Object.keys(account).sort())).toEqual([
      ['accessKey', 'bearerToken', 'id', 'secretKey'],
      ['accessKey', 'bearerToken', 'id', 'secretKey'],
    ]);
    const response = await fetch(sandbox.url + listPath, { headers: keysOf(sandbox.accounts[0]) });
    expect(response.headers.get('content-range')).toMatch(/^1-1\/\d+$/);
    expect(await live.stop('SIGTERM')).toBe(stopped);
  });

  test('the section "service" of the configuration file sets limits and the form of responses', async () => {
    writeFileSync(
      join(folder, 'service.json'),
      JSON.stringify({ service: { maxRows: 2, rowsOver: 'clamp', log: 'json' } }),
    );
    const { ready: sandbox, live } = await ready(['--records', '20', '--config', 'service.json']);
    const path = listPath.replace('rows=1', 'rows=50');
    const response = await fetch(sandbox.url + path, { headers: keysOf(sandbox.accounts[0]) });
    expect(response.headers.get('content-range')).toMatch(/^1-2\//);
    expect(await live.stop('SIGTERM')).toBe(stopped);
    expect(live.said().stderr).toContain('"message":"completed"');
  });

  test.each([
    [['--prot', '1'], /no option --prot[\s\S]*--port/],
    [['--port', 'abc'], /'--port <port>' argument 'abc' is invalid. It must be a whole number/],
    [['--config', '/none.json'], /no configuration file \/none.json\n.*named by --config/],
    [
      ['--config', 'bad.json'],
      /bad\.json: There is no option service\.maxRow\. Did you mean service\.maxRows\?/,
    ],
    [['--port', '0', '--tls-cert', 'x.pem'], /both --tls-cert and --tls-key/],
    [['--store', 'sqlite::memory:', '--records', '5'], /--records is for the sandbox/],
    [['--store', 'postgres://me:hidden@db/calls'], /must not have a password/],
  ])('it refuses %j with status 2 and says what is wrong', async (args, reason) => {
    writeFileSync(join(folder, 'bad.json'), '{"service": {"maxRow": 1}}');
    const { code, stderr, stdout } = await calls(['serve', ...args]);
    expect(stderr).not.toContain('hidden');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(reason);
  });

  test.skipIf(process.platform === 'win32')(
    'what it prints for three accounts, pasted into a shell, lets calls choose each',
    async () => {
      const live = startLive(
        stage,
        ['serve', '--records', '90', '--accounts', '3', '--port', '0'],
        {},
        folder,
      );
      const [, block = ''] = await live.until(
        /Paste into another terminal:\n\n([\s\S]*?)\n\S+ list --account/,
      );
      const here = stage.folder();
      const shell = (script: string) =>
        execFileSync('sh', ['-c', `${block}\n${script}`], { cwd: here, encoding: 'utf8' });
      const env = Object.fromEntries(
        shell('env')
          .split('\n')
          .filter((line) => line.startsWith('CALLS_'))
          .map((line) => line.split(/=(.*)/s)),
      );
      const counts = await Promise.all(
        ['harbor-dental', 'clinique-veterinaire-mont-royal', 'all'].map(async (name) => {
          const which = name === 'all' ? ['--all-accounts'] : ['--account', name];
          const { stdout } = await stage.quick(['count', '--include-extensions', ...which], {
            cwd: here,
            env: { ...nobody, ...env },
          });
          return stdout.trim();
        }),
      );
      expect(counts).toEqual(['51', '13', expect.stringMatching(/^harbor-dental\t51\n.*\t26\n.*\t13$/)]);
      expect(shell('true')).toContain('calls.config.json is there already');
      await live.stop('SIGTERM');
    },
  );

  test('CALLS_PAGE_PASSWORD opens the page, and is refused where it would cross the network unencrypted', async () => {
    const env = { CALLS_PAGE_PASSWORD: 'open sesame' };
    const { ready: sandbox, live } = await ready(['--records', '5'], env);
    const page = (headers = {}) => fetch(`${sandbox.url}/page/about.json`, { headers });
    expect((await page()).status).toBe(401);
    const authorization = `Basic ${Buffer.from('boss:open sesame').toString('base64')}`;
    expect((await page({ authorization })).status).toBe(200);
    await live.stop('SIGTERM');
    const { code, stderr } = await calls(['serve', '--records', '5', '--host', '0.0.0.0'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('CALLS_PAGE_PASSWORD would cross the network unencrypted: 0.0.0.0 has no TLS');
    expect(stderr).not.toContain('sesame');
  });

  test('a port that is in use is refused with the option that names another', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const { code, stderr } = await calls(['serve', '--records', '1', '--port', port]);
    other.close();
    expect(code).toBe(2);
    expect(stderr).toMatch(/another program listens there[\s\S]*--port N names another one/);
  });
});

describe('calls store', () => {
  test.each([
    [['store', 'accounts', 'list']],
    [['store', 'accounts', 'key', '--account', '101']],
    [['export', '-o', 'calls.csv']],
    [['serve', '--port', '0']],
  ])('%j does not create what a typo names', async (args) => {
    const cwd = mkdtempSync(join(folder, 'typo-'));
    const { code, stderr, stdout } = await stage.quick([...args, '--store', 'sqlite:typo.db'], { cwd });
    expect(stderr).toMatch(/There is no store sqlite:.*typo\.db[\s\S]*calls sync --store/);
    expect({ code, stdout, files: readdirSync(cwd) }).toEqual({ code: 2, stdout: '', files: [] });
  });

  test('it fills a store and makes keys; calls serve opens with them and logs without them', async () => {
    expect(await store(['accounts', 'add', '--account', '101', '--name', 'Main'])).toMatchObject({
      code: 0,
      stderr: '',
    });
    await using filled = await openStore(mirror);
    await filled.upsert('101', generate({ records: 40 }));
    const keys = JSON.parse((await store(['accounts', 'key', '--account', '101'])).stdout);

    const { ready: served, live } = await ready(['--store', mirror]);
    expect(served.accounts).toEqual([{ id: '101', name: 'Main' }]);
    const response = await fetch(served.url + listPath, { headers: keysOf(keys) });
    expect(response.headers.get('content-range')).toBe('1-1/40');
    expect(await live.stop('SIGINT')).toBe(stopped);
    const lines = live.said().stderr.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ message: 'listening', url: served.url }),
      expect.objectContaining({ message: 'completed', status: 200, account: '101' }),
    ]);
    for (const secret of [keys.accessKey, keys.secretKey, keys.bearerToken])
      expect(live.said().stderr).not.toContain(secret);
  });

  test('calls serve opens the store that CALLS_STORE names, and a sandbox with --store none', async () => {
    const env = { CALLS_STORE: mirror };
    const { ready: own, live } = await ready([], env);
    expect(own.accounts).toEqual([{ id: '101', name: 'Main' }]);
    await live.stop('SIGINT');
    const made = await ready(['--store', 'none', '--records', '5'], env);
    expect(made.ready.accounts[0]).toHaveProperty('secretKey');
    await made.live.stop('SIGINT');
    const refused = await calls(['serve', '--records', '5'], { env });
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--records is for the sandbox, which --store none serves/),
    });
  });

  test('it erases, purges and measures', async () => {
    const { stdout } = await calls(['list', '--store', mirror, '--all', '--include-extensions', '--json']);
    const [{ ani }] = JSON.parse(stdout);
    const erasing = await store(['erase', '--account', '101'], { input: `${ani}\n` });
    expect(erasing.stderr).toMatch(/not searched, and to be cleaned by you: files that were exported before/);
    expect(JSON.parse(erasing.stdout).erased).toBeGreaterThan(0);
    const purged = await store(['purge', '--account', '101', '--before', '2026-09-15']);
    expect(JSON.parse(purged.stdout).purged).toBeGreaterThan(0);
    expect((await calls(['doctor', '--offline', '--store', mirror])).stdout).toMatch(
      /^note +101 +\d+ calls? up to/m,
    );
  });

  test('it erases several callers at once, after all lines and ledgers were checked', async () => {
    const url = 'sqlite:erased.db';
    const made = [...generate({ records: 40 })];
    const filled = await openStore(`sqlite:${join(folder, 'erased.db')}`);
    await filled.putAccount({ id: '101', name: 'Main' });
    await filled.upsert('101', made);
    await filled.close();
    const [a, b] = [...new Set(made.map(({ ani }) => ani))];
    const erase = (input: string, ...more: string[]) =>
      calls(['store', 'erase', '--account', '101', '--store', url, ...more], { input });
    const refused: [string, string[], RegExp][] = [
      [`${a}\nAnn\n`, [], /line 2 of stdin is not a phone number and nothing else; nothing was erased/],
      [`${a},${b}\n`, [], /line 1 of stdin is not a phone number/],
      [`x\n${a}\ny\n`, [], /lines 1, 3 of stdin are not a phone number/],
      ['\n \n', [], /needs the number of the caller on stdin, or several, one a line/],
      [`${a}\n`, ['--ledger', 'none.ledger'], /--ledger none\.ledger: there is no such file/],
    ];
    for (const [input, more, said] of refused) {
      const { code, stdout, stderr } = await erase(input, ...more);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(said);
      expect(stderr).not.toMatch(/Ann|\d{7}/);
    }
    expect(
      (await calls(['store', 'erase', '--account', '5', '--store', url], { input: `${a}\n` })).stderr,
    ).toMatch(/the store has no account 5\n.*it has 101/);
    const { code, stdout, stderr } = await erase(`00${a}\n${b}\n${a}\n`);
    expect([code, stderr.match(/VACUUM|another process/)]).toEqual([0, null]);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ line }) => line)).toEqual([1, 2, 3]);
    const left = made.filter(({ ani }) => ani !== a && ani !== b).length;
    expect(lines.map(({ erased }) => erased).reduce((sum, n) => sum + n)).toBe(40 - left);
    expect((await calls(['count', '--store', url, '--include-extensions'])).stdout).toBe(`${left}\n`);
    for (const time of ['soon', '2026-02-30']) {
      const purge = await calls(['store', 'purge', '--account', '101', '--store', url, '--before', time]);
      expect([purge.code, purge.stderr]).toEqual([
        2,
        expect.stringMatching(/not a time that exists\n.*a day or a time/),
      ]);
    }
  });

  test('it lists, revokes, disables and enables', async () => {
    const list = async () => JSON.parse((await store(['accounts', 'list'])).stdout);
    const { credentials } = await list();
    expect((await store(['accounts', 'revoke', '--credential', credentials[0].id])).code).toBe(0);
    expect((await store(['accounts', 'disable', '--account', '101'])).code).toBe(0);
    expect(await list()).toMatchObject({
      disabled: true,
      credentials: [{ revoked: true }, { revoked: false }],
    });
    expect((await store(['accounts', 'enable', '--account', '101'])).code).toBe(0);
    expect(await list()).toMatchObject({ disabled: false });
  });

  test.each([
    [['frobnicate'], /calls store has no command "frobnicate"/],
    [['accounts'], /--store is missing/],
    [['accounts', 'list', 'x', '--store', 'sqlite::memory:'], /too many arguments/],
    [['accounts', 'key', '--account', '5', '--store', 'sqlite::memory:'], /no account 5/],
    [['accounts', 'lits', '--store', 'sqlite::memory:'], /action cannot be "lits"\n.*did you mean list\?/],
    [
      ['accounts', 'revoke', '--credential', '0123456789ab', '--store', 'sqlite::memory:'],
      /no such credential/,
    ],
    [['purge', '--account', '5', '--store', 'sqlite::memory:'], /'--before <time>' not specified/],
    [['erase', '--account', '5', '--store', 'sqlite::memory:'], /number of the caller on stdin/],
    [['accounts', '--store', 'postgres://me:hidden@127.0.0.1:1/db'], /must not have a password/],
  ])('it refuses %j with status 2 and says what is wrong', async (args, reason) => {
    const { code, stderr, stdout } = await calls(['store', ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(reason);
    expect(stderr).not.toContain('hidden');
  });

  test('it fails with status 5 and one line when the store cannot be reached, without the password', async () => {
    const env = { CALLS_STORE: 'postgres://me:hidden@127.0.0.1:1/db' };
    const { code, stderr } = await calls(['store', 'accounts'], { env });
    expect([code, stderr.trim().split('\n').length]).toEqual([5, 1]);
    expect(stderr).not.toContain('hidden');
  });
});

test('calls --version prints the version of its manifest', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(await calls(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});
