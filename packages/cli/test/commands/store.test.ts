import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from '@call-attribution/sandbox';
import { DatabaseSync as Database } from '@call-attribution/sqlite';
import { openStore } from '@call-attribution/store';
import { beforeAll, describe, expect, test } from 'vitest';
import { openStage } from '../stage.ts';

const stage = openStage();
const folder = stage.folder();
const mirror = `sqlite:${join(folder, 'mirror.db')}`;
const calls = (
  args: readonly string[],
  options: { input?: string; env?: Record<string, string> } = {},
) => stage.quick(args, { cwd: folder, ...options });
const store = (args: readonly string[], options = {}) =>
  calls(['store', ...args, '--store', mirror], options);
beforeAll(async () => {
  await store(['accounts', 'add', '--account', '101', '--name', 'Main']);
  await using filled = await openStore(mirror);
  await filled.upsert('101', generate({ records: 40 }));
  await store(['accounts', 'key', '--account', '101']);
});

describe('calls store', () => {
  test.each([
    [['store', 'accounts', 'list']],
    [['store', 'accounts', 'key', '--account', '101']],
    [['export', '-o', 'calls.csv']],
    [['serve', '--port', '0']],
  ])('%j does not create what a typo names', async (args) => {
    const cwd = mkdtempSync(join(folder, 'typo-'));
    const { code, stderr, stdout } = await stage.quick([...args, '--store', 'sqlite:typo.db'], {
      cwd,
    });
    expect(stderr).toMatch(/There is no store sqlite:.*typo\.db[\s\S]*calls sync --store/);
    expect({ code, stdout, files: readdirSync(cwd) }).toEqual({ code: 2, stdout: '', files: [] });
  });

  test('it erases, purges and measures', async () => {
    const { stdout } = await calls([
      'list',
      '--store',
      mirror,
      '--all',
      '--include-extensions',
      '--json',
    ]);
    const [{ ani }] = JSON.parse(stdout);
    const erasing = await store(['erase', '--account', '101'], { input: `${ani}\n` });
    expect(erasing.stderr).toMatch(
      /not searched, and to be cleaned by you: files that were exported before/,
    );
    expect(JSON.parse(erasing.stdout).erased).toBeGreaterThan(0);
    const purged = await store(['purge', '--account', '101', '--before', '2026-09-15', '--yes']);
    expect(JSON.parse(purged.stdout).purged).toBeGreaterThan(0);
    expect((await calls(['doctor', '--offline', '--store', mirror])).stdout).toMatch(
      /^note +101 +\d+ calls? up to/m,
    );
  });

  test('a purge says what it deletes, and asks, or takes --yes', async () => {
    const url = 'sqlite:purged.db';
    const filled = await openStore(`sqlite:${join(folder, 'purged.db')}`);
    await filled.putAccount({ id: '101', name: 'Main' });
    await filled.upsert('101', generate({ records: 40 }));
    let older = 0;
    for await (const { date_added } of filled.calls('101'))
      if (date_added < '2026-09-15 00:00:00') older += 1;
    await filled.close();
    const before = ['--account', '101', '--before', '2026-09-15', '--store', url];
    const purge = (more: readonly string[], options = {}) =>
      stage.quick(['store', 'purge', ...before, ...more], { cwd: folder, ...options });
    const left = async () =>
      Number((await calls(['count', '--store', url, '--include-extensions'])).stdout);
    const what = `${older} calls of account 101 from before 2026-09-15 00:00:00`;

    expect(await purge(['--dry-run'])).toMatchObject({
      code: 0,
      stdout: `{"purged":0,"wouldPurge":${older}}\n`,
      stderr: expect.stringContaining(`${what}; nothing was deleted`),
    });
    expect(await purge([])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(`this deletes ${what}, for good[\\s\\S]*add --yes`),
    });
    for (const typed of ['\n', 'n\n'])
      expect(await purge([], { typed })).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          `Delete ${what}, for good\\? y or n[\\s\\S]*nothing was deleted`,
        ),
      });
    const typo = ['store', 'purge', ...before.with(1, '102')];
    expect((await calls(typo)).stderr).toMatch(
      /the store has no account 102\n.*it has 101 \(Main\)\n$/,
    );
    expect(await left()).toBe(40);
    expect(await purge([], { typed: 'y\n' })).toMatchObject({
      code: 0,
      stdout: `{"purged":${older}}\n`,
    });
    expect(await left()).toBe(40 - older);
    expect(await purge(['--yes'])).toMatchObject({ code: 0, stdout: '{"purged":0}\n' });
  });

  test('it erases several callers at once, after all lines and ledgers were checked', async () => {
    const url = 'sqlite:erased.db';
    const made = [...generate({ records: 40 })];
    const filled = await openStore(`sqlite:${join(folder, 'erased.db')}`);
    await filled.putAccount({ id: '101', name: 'Main' });
    await filled.upsert('101', made);
    await filled.close();
    const [a, b] = Array.from(new Set(made.map(({ ani }) => ani)));
    const erase = (input: string, ...more: string[]) =>
      calls(['store', 'erase', '--account', '101', '--store', url, ...more], { input });
    const refused: [string, string[], RegExp][] = [
      [
        `${a}\nAnn\n`,
        [],
        /line 2 of stdin is not a phone number and nothing else; nothing was erased/,
      ],
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
      (await calls(['store', 'erase', '--account', '5', '--store', url], { input: `${a}\n` }))
        .stderr,
    ).toMatch(/the store has no account 5\n.*it has 101 \(Main\)\n$/);
    const { code, stdout, stderr } = await erase(`00${a}\n${b}\n${a}\n`);
    expect([code, stderr.match(/VACUUM|another process/)]).toEqual([0, null]);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ line }) => line)).toEqual([1, 2, 3]);
    const left = made.filter(({ ani }) => ani !== a && ani !== b).length;
    expect(lines.map(({ erased }) => erased).reduce((sum, n) => sum + n)).toBe(40 - left);
    expect((await calls(['count', '--store', url, '--include-extensions'])).stdout).toBe(
      `${left}\n`,
    );

    for (const time of ['soon', '2026-02-30']) {
      const purge = await calls([
        'store',
        'purge',
        '--account',
        '101',
        '--store',
        url,
        '--before',
        time,
      ]);
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
    [
      ['accounts', 'lits', '--store', 'sqlite::memory:'],
      /action cannot be "lits"\n.*did you mean list\?/,
    ],
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

describe('while another process writes to the store', () => {
  test('accounts are added, disabled, enabled and given keys as soon as it is done', async () => {
    const cwd = stage.folder();
    const store = (...args: string[]) =>
      stage.quick(['store', ...args, '--store', 'sqlite:calls.db', '--account', '101'], { cwd });
    await store('accounts', 'add');
    const other = new Database(join(cwd, 'calls.db'));
    for (const action of ['add', 'disable', 'enable', 'key']) {
      other.exec('BEGIN IMMEDIATE');
      const running = store('accounts', action);
      await new Promise((resolve) => setTimeout(resolve, 100));
      other.exec('COMMIT');
      expect([action, await running]).toMatchObject([action, { code: 0, stderr: '' }]);
    }

    other.close();
  });
});
