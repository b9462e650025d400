import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeApiServer, fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nobody, openStage } from './stage.ts';

const stage = openStage();
const calls = fixtureCalls(1200).map((call) => ({ ...call, acct_id: '101' }));
const sids = calls.map(({ sid }) => sid).sort();
const hidden = new Set(sids.filter((_, i) => i % 120 === 7));
let server: FakeApiServer;
beforeAll(async () => {
  server = await fakeApi({ calls, order: 'oldest', cap: 100 }).listen();
});
afterAll(() => server.close());

async function stored(cwd: string): Promise<string[]> {
  const store = await openStore(`sqlite:${cwd}/calls.db`);
  const found: string[] = [];
  for await (const { sid } of store.calls('101')) found.push(sid);
  await store.close();
  return found.sort();
}

test.each(['v2', 'v3'] as const)('a list that is short for a while: %s', async (version) => {
  const store = 'sqlite:calls.db';
  const cwd = stage.folder();
  const env = {
    CALLS_BASE_URL: server.url,
    ...(version === 'v2'
      ? { CALLS_BEARER_TOKEN: 'c' }
      : { CALLS_ACCESS_KEY: 'a', CALLS_SECRET_KEY: 'b' }),
  };
  const args = ['--store', store, '--account', '101', '--api-version', version];
  const sync = () => stage.quick(['sync', ...args], { cwd, env });
  server.hidden = hidden;
  for (let run = 0; run < 2; run += 1) {
    const { code, stderr } = await sync();
    expect(stderr).toMatch(
      /the server counts more calls .*: 10 calls are missing; the next run reads them again/,
    );
    expect(code).toBe(3);
  }

  const count = await stage.quick(['count', '--store', store, '--include-extensions'], {
    cwd,
    env,
  });
  expect([count.code, count.stdout]).toEqual([0, '1190\n']);
  expect(count.stderr).toMatch(
    /^INCOMPLETE, the copy of account 101 is not whole: at the end the server counts more calls .*: 10 calls are missing/m,
  );
  const status = () => stage.quick(['doctor', '--offline', '--store', store], { cwd, env });
  const short = await status();
  expect(short.code).toBe(3);
  expect(short.stdout.replace(/\s+/g, ' ')).toMatch(
    /note 101 1,190 calls up to .*, synced .* ago; at the end the server counts more calls .*: 10 calls are missing .* goes on/,
  );

  // A short answer deletes nothing, and once the server is well, one run makes the copy equal.
  server.hidden = new Set();
  const well = await sync();
  expect([well.code, well.stderr]).toEqual([0, expect.not.stringContaining('missing')]);
  expect(await stored(cwd)).toEqual(sids);
  const whole = await status();
  expect([whole.code, whole.stdout.replace(/\s+/g, ' ')]).toEqual([
    0,
    expect.stringMatching(/ok 101 1,200 calls up to .*, synced .* ago, whole/),
  ]);
  server.hidden = new Set(sids.slice(0, 50));
  await sync();
  expect(await stored(cwd)).toEqual(sids);
});

describe('a store of two accounts, of which one is short', () => {
  const keys = { accessKeyEnv: 'CALLS_ACCESS_KEY', secretKeyEnv: 'CALLS_SECRET_KEY' };
  const env = { ...nobody, CALLS_ACCESS_KEY: 'a', CALLS_OTHER_KEY: 'c', CALLS_SECRET_KEY: 'b' };
  const lacks = 'at the end the server counts more calls ';
  const cwd = stage.folder();

  const run = (...args: string[]) =>
    stage.quick([...args, '--store', 'sqlite:two.db'], {
      cwd,
      env: { ...env, CALLS_CONFIG: join(cwd, 'calls.config.json') },
    });

  const incomplete = (stderr: string): string[] =>
    stderr.split('\n').filter((line) => line.startsWith('INCOMPLETE'));
  let other: FakeApiServer;
  beforeAll(async () => {
    const well = calls.slice(0, 300);
    other = await fakeApi({
      calls: well.map((call) => ({ ...call, sid: `well-${call.sid}`, acct_id: '102' })),
      order: 'oldest',
      cap: 100,
    }).listen();
    const accounts = {
      short: { id: '101', baseUrl: server.url, ...keys },
      well: { id: '102', baseUrl: other.url, ...keys, accessKeyEnv: 'CALLS_OTHER_KEY' },
    };
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify({ accounts }));
    server.hidden = hidden;
    const both = await run('sync', '--all-accounts');
    expect(both.code).toBe(3);
    expect(both.stderr).toContain(`account 101: ${lacks}`);
    expect(both.stderr).not.toContain('account 102: at the end');
    expect([
      (await run('sync', '--account', 'well')).code,
      (await run('sync', '--account', 'short')).code,
    ]).toEqual([0, 3]);
  });
  afterAll(() => other.close());

  test.each([
    ['count', ['count', '--include-extensions']],
    ['list', ['list', '--limit', '5']],
    ['list of all', ['list', '--all']],
    ['report', ['report', '--by', 'day']],
    ['sql', ['sql', 'SELECT count(*) FROM calls']],
    ['export', ['export', '--format', 'csv', '--output', '-']],
    ['export to a file', ['export', '--output', 'calls.csv']],
    ['export by month', ['export', '--partition', 'month', '--output', 'set']],
    ['get', ['get', sids[0] ?? '']],
  ])('%s says in one line what the copy lacks, and of which account', async (name, args) => {
    const of = (account: string) => (name === 'sql' ? [] : ['--account', account]);
    const { code, stderr } = await run(...args, ...of('short'));
    expect([code, incomplete(stderr)]).toEqual([
      0,
      [expect.stringContaining(`INCOMPLETE, the copy of account short is not whole: ${lacks}`)],
    ]);
    if (name === 'sql' || name === 'get') return;
    expect(incomplete((await run(...args, ...of('well'))).stderr)).toEqual([]);
  });

  test.each([
    ['report --output report.html', ['report', '--by', 'day', '--output', 'report.html']],
    [
      'report --output report.txt',
      ['report', '--by', 'day', '--format', 'table', '--output', 'report.txt'],
    ],
    ['list --output list.txt', ['list', '--format', 'table', '--output', 'list.txt']],
  ])('the file of %s says at its top what the copy lacks', async (_, args) => {
    const top = async (account: string): Promise<string[]> => {
      expect((await run(...args, '--account', account)).code).toBe(0);
      const text = readFileSync(join(cwd, args.at(-1) ?? ''), 'utf8');
      const [, body = text] = text.split('</h1>');
      return body.trim().split('\n').slice(0, 1);
    };

    expect(await top('short')).toEqual([
      expect.stringMatching(
        `^(<p class="incomplete">)?INCOMPLETE, the copy of account short is not whole: ${lacks}`,
      ),
    ]);
    expect(await top('well')).toEqual([expect.not.stringContaining('INCOMPLETE')]);
  });

  test('the receipt of an export says what the copy proves, and calls verify repeats it', async () => {
    const exported = async (account: string) => {
      await run('export', '--output', 'some.csv', '--receipt', '--account', account);
      const { verdict } = JSON.parse(readFileSync(join(cwd, 'some.csv.receipt.json'), 'utf8'));
      const { code, stdout } = await stage.quick(['verify', 'some.csv'], { cwd, env });
      return { verdict, code, stdout };
    };

    const short = await exported('short');
    expect(short.verdict).toMatchObject({
      proof: 'short',
      gaps: expect.arrayContaining([expect.objectContaining({ why: 'rose' })]),
    });
    expect([short.code, short.stdout]).toEqual([
      3,
      expect.stringContaining('the read was short: rose'),
    ]);
    expect(await exported('well')).toMatchObject({
      code: 0,
      verdict: { proof: 'whole', gaps: [] },
    });
  });

  test('of all accounts, the one that is short is named', async () => {
    const { code, stderr, stdout } = await run('count', '--all-accounts', '--json');
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({
        incomplete: [expect.stringContaining(`of account short is not whole: ${lacks}`)],
      }),
      expect.not.objectContaining({ incomplete: expect.anything() }),
    ]);
    expect(JSON.parse((await run('count', '--json', '--account', 'short')).stdout)).toMatchObject({
      incomplete: [expect.stringContaining(`of account short is not whole: ${lacks}`)],
    });
    expect([code, incomplete(stderr)]).toEqual([
      0,
      [expect.stringContaining('the copy of account short is not')],
    ]);
  });
});
