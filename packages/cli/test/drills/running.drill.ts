import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDrill } from '@call-attribution/test-tools/drill';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLive } from '../live.ts';
import { nobody, type OwnStage, openOwnStage } from '../stage.ts';

openDrill({
  name: 'running-programs',
  kind: 'whole programs',
  what: 'Commands that serve, sync, repeat, answer and demonstrate run as processes and end on Ctrl-C',
  countTests: true,
});

let stage: OwnStage;
beforeAll(async () => {
  stage = await openOwnStage({ records: 200 });
});
afterAll(() => stage.close());
const start = (args: string[], env?: Record<string, string>, cwd?: string) =>
  startLive(stage, args, env, cwd);

describe('calls serve', () => {
  test('a sandbox prints its URL and keys, and stops on Ctrl-C', async () => {
    const served = start(['serve', '--port', '0', '--records', '40', '--ready-json']);
    const [line = ''] = await served.until(/^\{.*\}\n/);
    const ready = JSON.parse(line);
    const [account] = ready.accounts;
    const env = {
      CALLS_BASE_URL: ready.url,
      CALLS_ACCESS_KEY: account.accessKey,
      CALLS_SECRET_KEY: account.secretKey,
    };
    expect((await stage.quick(['count', '--q', 'inc_gce:1'], { env })).stdout).toBe('40\n');
    expect(served.said().stderr).toMatch(/export CALLS_ACCESS_KEY=/);
    expect(await served.stop()).toBe(0);
    expect((await stage.quick(['count'], { env })).code).toBe(5);
  });
});

describe('calls sync', () => {
  test('it fills a store, finds the same calls again, and the store serves them with the same keys', async () => {
    const cwd = stage.folder();
    const first = await stage.quick(['sync', '--store', 'sqlite:calls.db', '--json'], { cwd });
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({ account: '101', new: 200, changed: 0, same: 0 });
    expect(first.stderr).toMatch(/200 new, 0 changed, 0 the same/);
    const second = await stage.quick('sync --store sqlite:calls.db --lookback 9999d --json', { cwd });
    expect(JSON.parse(second.stdout)).toMatchObject({ new: 0, changed: 0, same: 200 });

    const mirror = start(['serve', '--store', 'sqlite:calls.db', '--port', '0', '--ready-json'], {}, cwd);
    const { url } = JSON.parse((await mirror.until(/^\{.*\}\n/))[0]);
    const list = ['list', '--all', '--format', 'ndjson', '--include-extensions'];
    const mirrored = await stage.quick(list, { env: { CALLS_BASE_URL: url } });
    expect(mirrored.stdout).toBe((await stage.quick(list)).stdout);
    expect(await mirror.stop('SIGTERM')).toBe(0);
  });

  test('--every repeats it until Ctrl-C, even when the server is down for a while', async () => {
    const cwd = stage.folder();
    const args = ['sync', '--store', 'sqlite:calls.db', '--every', '1s', '--lookback', '9999d'];
    const live = start(args, { ...stage.env }, cwd);
    await live.until(/200 new/);
    stage.sandbox.faults.set('*', [{ status: 500 }]);
    await live.until(/retrying in 1\.0 s/);
    stage.sandbox.faults.clear();
    await live.until(/0 new, 0 changed, 200 the same/);
    expect(await live.stop()).toBe(0);
  });

  test.each([
    [[], /needs a store/],
    [['--store', 'postgres://me:hunter2@db/calls'], /must not have a password/],
    [['--store', 'postgres://me:hunter2/x@db/calls'], /must not have a password/],
    [['--store', 'postgres://me@db/calls?password=hunter2'], /must not have a password/],
    [['--store', 'sqlite::memory:', '--every', 'often'], /--every must be a duration/],
    [['--store', 'sqlite::memory:', '--account', 'a b'], /--account must be/],
  ])('it refuses %j', async (args, said) => {
    const { code, stderr } = await stage.quick(['sync', ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(said);
    expect(stderr).not.toContain('hunter2');
  });
});

describe('calls mcp', () => {
  async function connected(args: string[], env: Record<string, string>): Promise<Client> {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const command = { command: process.execPath, args: [stage.bin, 'mcp', ...args] };
    await client.connect(
      new StdioClientTransport({
        ...command,
        env: { PATH: process.env.PATH ?? '', ...env },
        stderr: 'ignore',
      }),
    );
    return client;
  }
  const textOf = (result: unknown): string => JSON.stringify(result);

  test('--sandbox works without keys', async () => {
    const client = await connected(['--sandbox', '--records', '60'], {});
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('list_calls');
    const counted = await client.callTool({
      name: 'count_calls',
      arguments: { calls: 'all' },
    });
    expect(counted.isError).toBeFalsy();
    expect(textOf(counted)).toContain('60');
    await client.close();
  });

  test('it reads with the keys of the account; without keys it lists its tools and says what is missing', async () => {
    const client = await connected([], { ...stage.env });
    expect(textOf(await client.callTool({ name: 'count_calls', arguments: { calls: 'all' } }))).toContain(
      '200',
    );
    await client.close();
    const without = await connected([], { CALLS_BASE_URL: stage.sandbox.url });
    expect((await without.listTools()).tools.length).toBeGreaterThan(3);
    const failed = await without.callTool({ name: 'count_calls', arguments: {} });
    expect(failed.isError).toBe(true);
    await without.close();
  });

  test('it refuses an unknown kind of data in --reveal', async () => {
    expect((await stage.quick(['mcp', '--reveal', 'everything'])).stderr).toMatch(/cannot be "everything"/);
  });
});

describe('calls demo', () => {
  test('it works in an empty folder, without configuration and network', async () => {
    const cwd = stage.folder();
    const { code, stdout, stderr } = await stage.quick(['demo', '--records', '1300'], { cwd, env: nobody });
    expect(stderr).toMatch(/\(finished in /);
    expect(code).toBe(0);
    expect(stdout).toMatch(/complete: 1,300 calls/);
    expect(stdout).toMatch(/\nChannel +Calls .*2026-\d\d-\d\d\.\.2026-\d\d-\d\d\n/);
    expect(stdout).toMatch(/Tracker +\d,\d{3} /);
    expect(stdout).toMatch(/→ analyze_calls \{.*\}\n/);
    expect(stdout).not.toMatch(/failed/);
    // It ends with commands that work as they stand, however it was started.
    const last = (text: string) => text.trimEnd().split('\n').slice(-3);
    const typed = last(stdout).map((line) => line.slice(47));
    expect(typed).toEqual(['calls serve', 'calls mcp --sandbox', 'calls init']);
    const small = ['demo', '--records', '5', '--output', 'five.csv'];
    const built = await stage.calls(small, { cwd, env: nobody });
    expect(last(built.stdout)[0]).toMatch(/ {2}(?:calls|node \S+bin\.js) serve$/);
    expect(readFileSync(join(cwd, 'demo-calls.csv'), 'utf8').match(/^\d{13},101,/gm)).toHaveLength(1300);
  });

  test('it prints the same for the same seed', async () => {
    const args = ['demo', '--records', '50', '--seed', '7', '--output', 'seven.csv'];
    const one = await stage.quick(args);
    const two = await stage.quick(args);
    expect(one).toMatchObject({ code: 0 });
    expect(one.stdout).toBe(two.stdout);
  });

  test.skipIf(process.platform === 'win32')('it names a folder that cannot be written', async () => {
    const { code, stderr } = await stage.quick(['demo', '--records', '5', '--output', '/nowhere/calls.csv']);
    expect(code).toBe(7);
    expect(stderr).toMatch(/\/nowhere\/calls\.csv: the folder does not exist/);
    expect(existsSync('/nowhere')).toBe(false);
  });
});
