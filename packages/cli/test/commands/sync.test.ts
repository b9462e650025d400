import { describe, expect, test } from 'vitest';
import { runNode } from '../program.ts';
import { freePort, openStage } from '../stage.ts';

const stage = openStage();

test.each([
  [[], /needs a store/],
  [['--store', 'postgres://me:hunter2@db/calls'], /must not have a password/],
  [['--store', 'postgres://me:hunter2/x@db/calls'], /must not have a password/],
  [['--store', 'postgres://me@db/calls?password=hunter2'], /must not have a password/],
  [['--store', 'sqlite::memory:', '--every', 'often'], /--every must be a duration/],
  [
    ['--store', 'sqlite::memory:', '--account', 'a b'],
    /"a b" is not an account ID: 1 to 64 letters/,
  ],
])('it refuses %j', async (args, said) => {
  const { code, stderr } = await stage.quick(['sync', ...args]);
  expect(code).toBe(2);
  expect(stderr).toMatch(said);
  expect(stderr).not.toContain('hunter2');
});

// Windows has no limit on the size of the files of a process.
describe.skipIf(process.platform === 'win32')('a full disk', () => {
  test.each([40, 1000])(
    'calls sync ends with status 7 when %d blocks are free, and continues when there is space',
    async (blocks) => {
      const cwd = stage.folder();
      const sync = [
        'sync',
        '--store',
        'sqlite:calls.db',
        '--account',
        '101',
        '--lookback',
        '9999d',
      ];

      // Writes fail as on a full disk: a file has at most so many blocks, and there is no signal
      // for it.
      const limited = `trap '' XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`;
      const { code, stderr } = await runNode([], {
        shell: ['sh', '-c', limited, process.execPath, stage.bin, ...sync],
        cwd,
        env: { ...stage.env },
      });
      expect([code, stderr]).toEqual([
        7,
        expect.stringMatching(
          /^calls: The disk with the database \S+ is full[^\n]*\n(?: {2}→ [^\n]*\n)*$/,
        ),
      ]);
      expect((await stage.quick(sync, { cwd })).code).toBe(0);
      const check = await stage.quick(['verify', 'sqlite:calls.db', '--against-api'], { cwd });
      expect(check).toMatchObject({ code: 0, stdout: expect.stringMatching(/proved, 600 calls/) });
    },
  );
});

describe('a sync of a period that moves', () => {
  const store = ['--store', 'sqlite:calls.db', '--json'];
  const summaryOf = ({ stdout }: { stdout: string }) =>
    JSON.parse(stdout) as { new: number; same: number };

  test('it continues each day, and another begin or filter reads what it adds', async () => {
    const cwd = stage.folder();
    const sync = (day: number, ...args: string[]) =>
      stage.quick(['sync', ...store, ...args], { cwd, now: new Date(Date.UTC(2026, 9, day, 12)) });
    const first = await sync(20, '--from', '10d');
    const second = await sync(25, '--from', '10d');
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(summaryOf(second)).toMatchObject({ new: 0 });
    expect(summaryOf(second).same).toBeGreaterThan(0);
    for (const args of [
      ['--from', '12d'],
      ['--from', '2026-10-10'],
      ['--period', '2026-10'],
      ['--q', 'talk_minutes:[2 TO *]'],
    ]) {
      const { code, stdout } = await sync(25, ...args);
      expect([args, code, JSON.parse(stdout)]).toEqual([
        args,
        0,
        expect.objectContaining({ proof: 'whole', gaps: [] }),
      ]);
    }

    expect((await sync(25, '--period', '2026-10', '--restart')).code).toBe(0);
    expect((await sync(25, '--period', '2026-10')).code).toBe(0);
  });

  test('--period yesterday has each day, and the days when it was not run', async () => {
    const cwd = stage.folder();

    const sync = async (day: number) =>
      summaryOf(
        await stage.quick(['sync', ...store, '--period', 'yesterday'], {
          cwd,
          now: new Date(Date.UTC(2026, 9, day, 12)),
        }),
      ).new;

    const days = [await sync(20), await sync(21), await sync(24)];

    const count = async (from: string, to: string) =>
      Number(
        (await stage.quick(['count', '--from', from, '--to', to, '--include-extensions'])).stdout,
      );

    expect(days).toEqual([
      await count('2026-10-19', '2026-10-19'),
      await count('2026-10-20', '2026-10-20'),
      await count('2026-10-21', '2026-10-23'),
    ]);
    expect(days[2]).toBeGreaterThan(days[1] ?? 0);
  });
});

describe('--status-port', () => {
  test('it serves health and metrics while the sync repeats', async () => {
    const port = await freePort();
    const stop = new AbortController();
    const args = [
      'sync',
      '--store',
      'sqlite:status.db',
      '--every',
      '1h',
      '--status-port',
      String(port),
    ];
    const ended = stage.quick(args, { cwd: stage.folder(), signal: stop.signal });
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
    while ((await get('/readyz'))?.status !== 200)
      await new Promise((done) => setTimeout(done, 20));
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
    const { code, stderr } = await stage.quick(args, { cwd: stage.folder() });
    expect([code, stderr]).toEqual([2, expect.stringContaining('add --every')]);
  });
});

describe('the name of an account', () => {
  const name = async (cwd: string) => {
    const { stdout } = await stage.quick(['store', 'accounts', '--store', 'sqlite:calls.db'], {
      cwd,
    });
    return (JSON.parse(stdout) as { name: string }).name;
  };

  test('is what --name says, and stays when a later sync says nothing', async () => {
    const cwd = stage.folder();
    const sync = ['sync', '--store', 'sqlite:calls.db', '--account', '101'];
    await stage.quick(sync, { cwd });
    expect(await name(cwd)).toBe('101');
    expect((await stage.quick([...sync, '--name', 'Harbor Dental'], { cwd })).code).toBe(0);
    expect(await name(cwd)).toBe('Harbor Dental');
    await stage.quick(sync, { cwd });
    expect(await name(cwd)).toBe('Harbor Dental');
    await stage.quick([...sync, '--name', 'Harbor'], { cwd });
    expect(await name(cwd)).toBe('Harbor');
  });
});
