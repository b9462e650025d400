import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { makeCalls } from '@call-attribution/core/testing';
import { builtFile } from '@call-attribution/test-tools';
import { afterAll, describe, expect, test } from 'vitest';
import { run as runCommand } from '../src/commands/run.ts';

const bin = await builtFile(new URL('../src/bin.ts', import.meta.url).href);
copyFileSync(new URL('../package.json', import.meta.url), join(bin, '../../../package.json'));
const folder = mkdtempSync(join(tmpdir(), 'calls-bin-'));
const started: ChildProcess[] = [];
// Windows has no signals to listen to: a process that is told to stop just ends.
const stopped = process.platform === 'win32' ? null : 0;
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function start(args: readonly string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environment },
  });
  started.push(child);
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (said.out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (said.err += text));
  const ended = new Promise<number | null>((done) => child.once('close', done));
  return { child, said, ended };
}

async function run(
  args: readonly string[],
  { input = '', environment = {} }: { input?: string; environment?: Record<string, string> } = {},
) {
  const { child, said, ended } = start(args, environment);
  child.stdin.end(input);
  return { status: await ended, ...said };
}

/** The same without a process of its own, where only words are looked at. */
async function runHere(args: readonly string[], environment: NodeJS.ProcessEnv) {
  const said = { out: '', err: '' };
  const into = (name: 'out' | 'err') =>
    new Writable({
      write(chunk, _encoding, done) {
        said[name] += String(chunk);
        done();
      },
    });
  const io = {
    environment,
    stdin: Readable.from([]),
    stdout: into('out'),
    stderr: into('err'),
    stopped: () => Promise.resolve(),
  };
  return { status: await runCommand(args, io), ...said };
}

async function ready(args: readonly string[]) {
  const running = start([...args, '--port', '0', '--ready-json']);
  const line = await new Promise<string>((done, fail) => {
    running.child.stdout.on('data', () => running.said.out.includes('\n') && done(running.said.out));
    void running.ended.then(() => fail(new Error(running.said.err)));
  });
  return {
    ...running,
    told: JSON.parse(line) as { url: string; legacyUrl: string; accounts: Record<string, string>[] },
  };
}

const listPath = '/v3/user/bid-management?q=inc_gce:1&rows=1';

describe('the program', () => {
  test('serves a sandbox, says so in one JSON line, and stops at SIGTERM', async () => {
    const { told, said, child, ended } = await ready([
      '--sandbox',
      '--records',
      '50',
      '--seed',
      '7',
      '--accounts',
      '2',
    ]);
    expect(said.out.trim().split('\n')).toHaveLength(1);
    expect(told.accounts.map((account) => Object.keys(account).sort())).toEqual([
      ['accessKey', 'bearerToken', 'id', 'secretKey'],
      ['accessKey', 'bearerToken', 'id', 'secretKey'],
    ]);
    const [account] = told.accounts as [Record<string, string>];
    const headers = { access_key: account.accessKey as string, secret_key: account.secretKey as string };
    const answer = await fetch(told.url + listPath, { headers });
    expect(answer.headers.get('content-range')).toMatch(/^1-1\/\d+$/);
    child.kill('SIGTERM');
    expect(await ended).toBe(stopped);
    expect(said.err).toBe('');
  });

  test('fills a mirror, serves it with keys it made, and logs without them', async () => {
    const store = ['--store', `sqlite:${join(folder, 'mirror.db')}`];
    const ndjson = makeCalls(40)
      .map((call) => `${JSON.stringify(call)}\n`)
      .join('');
    expect(await run([...store, 'accounts', 'add', '--id', '101', '--name', 'Main'])).toMatchObject({
      status: 0,
      err: '',
    });
    const imported = await run([...store, 'import', '--id', '101', '-'], { input: ndjson });
    expect(JSON.parse(imported.out)).toEqual({ stored: 40, leftOut: 0 });
    const keys = JSON.parse((await run([...store, 'accounts', 'key', '--id', '101'])).out) as Record<
      string,
      string
    >;

    const { told, said, child, ended } = await ready(store);
    expect(told.accounts).toEqual([{ id: '101', name: 'Main' }]);
    const headers = { access_key: keys.accessKey as string, secret_key: keys.secretKey as string };
    expect((await fetch(told.url + listPath, { headers })).headers.get('content-range')).toBe('1-1/40');
    child.kill('SIGINT');
    expect(await ended).toBe(stopped);
    expect(JSON.parse(said.err.trim().split('\n').at(-1) as string)).toMatchObject({
      message: 'answered',
      status: 200,
      account: '101',
    });
    for (const secret of [keys.accessKey, keys.secretKey, keys.bearerToken])
      expect(said.err).not.toContain(secret);
  });

  test('exports, erases, purges, measures, checks and rebuilds a store', async () => {
    const store = ['--store', `sqlite:${join(folder, 'mirror.db')}`];
    expect((await run([...store, 'export', '--id', '101', 'calls.ndjson.gz'])).status).toBe(0);
    expect(existsSync(join(folder, 'calls.ndjson.gz'))).toBe(true);
    expect(existsSync(join(folder, 'calls.ndjson.gz.part'))).toBe(false);
    const out = (await run([...store, 'export', '--id', '101', '--form', 'v2', '-'])).out.trim().split('\n');
    expect(out).toHaveLength(40);
    const { ani } = JSON.parse(out[0] as string) as { ani: string };
    const { erased } = JSON.parse((await run([...store, 'erase', '--id', '101'], { input: `${ani}\n` })).out);
    expect(erased).toBeGreaterThan(0);
    const again = await run([...store, 'import', '--id', '101', 'calls.ndjson.gz']);
    expect(JSON.parse(again.out)).toEqual({ stored: 40 - erased, leftOut: erased });
    const purged = await run([...store, 'purge', '--id', '101', '--before', '2024-01-01 10:00:00']);
    expect(JSON.parse(purged.out).purged).toBeGreaterThan(0);
    expect(JSON.parse((await run([...store, 'sizes'])).out).accounts[0].account).toBe('101');
    expect(await run([...store, 'check'])).toMatchObject({ status: 0, out: '{"exact":true,"faults":[]}\n' });
    expect((await run([...store, 'rebuild'])).status).toBe(0);
  });

  test('takes a flag before the environment, and the environment before the file', async () => {
    writeFileSync(
      join(folder, 'service.json'),
      JSON.stringify({ 'max-rows': 1, 'default-rows': 1, port: 1 }),
    );
    const environment = {
      CALLS_SERVICE_MAX_ROWS: '2',
      CALLS_SERVICE_DEFAULT_ROWS: '2',
      CALLS_SERVICE_CONFIG: 'service.json',
    };
    const args = ['--max-rows', '3', '--store', 'postgres://me:hid@den@db/calls', '--dump-config'];
    const { out } = await run(args, { environment });
    expect(JSON.parse(out)).toMatchObject({
      'max-rows': 3,
      'default-rows': 2,
      port: 1,
      store: 'postgres://me:***@db/calls',
    });
  });

  test.each([
    [['--prot', '1'], {}, /no flag --prot.*--port/],
    [['--port', 'abc'], {}, /--port must be a whole number/],
    [['--rows-over', 'cut'], {}, /--rows-over must be one of reject, clamp/],
    [[], { CALLS_SERVICE_PROT: '1' }, /CALLS_SERVICE_PROT.*CALLS_SERVICE_PORT/],
    [['--config', '/none.json'], {}, /none.json cannot be read/],
    [['--config', join(folder, 'bad.json')], {}, /bad.json sets prot.*port/],
    [[], {}, /Which store/],
    [['frobnicate'], {}, /no command frobnicate/],
    [['--sandbox', '--port', '0', '--tls-cert', 'x.pem'], {}, /both --tls-cert and --tls-key/],
    [['--store', 'sqlite::memory:', 'accounts', 'key', '--id', '5'], {}, /no account 5/],
    [['--store', 'sqlite::memory:', 'purge', '--id', '5'], {}, /needs --before/],
    [['--store', 'sqlite::memory:', 'export', '--id', '5', '-'], {}, /no account 5/],
  ])('refuses %j with one line and status 2', async (args, environment, reason) => {
    writeFileSync(join(folder, 'bad.json'), '{"prot": 1}');
    const { status, err, out } = await runHere(args, environment);
    expect([status, out, err.trim().split('\n').length]).toEqual([2, '', 1]);
    expect(err).toMatch(reason);
  });

  test('fails with status 1 and one line when the store cannot be reached', async () => {
    const { status, err } = await run(['--store', 'postgres://me:hidden@127.0.0.1:1/db', 'sizes']);
    expect([status, err.trim().split('\n').length]).toEqual([1, 1]);
    expect(err).not.toContain('hidden');
  });

  test('shows its help and its version', async () => {
    const version = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
    expect(await run(['--version'])).toEqual({ status: 0, out: `${version}\n`, err: '' });
    const help = await run(['--help']);
    expect(help.out).toContain('--ready-json');
    expect(help.out.split('\n').every((line) => line.length <= 120)).toBe(true);
  });
});
