import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { planCalls, selectCalls } from '@call-attribution/questions';
import { testStores } from '@call-attribution/test-tools';
import { beforeAll, describe, expect, test } from 'vitest';
import { openStage } from './stage.ts';

const stage = openStage();

const folder = stage.folder();
const stores = testStores();
const now = new Date('2026-11-02T12:00:00Z');

const endless =
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000000) select count(*) as n from n';

describe.each(stores)('a copy in $kind', ({ kind, newUrl }) => {
  let url = '';
  const ask = (...args: string[]) => stage.quick([...args, '--store', url], { cwd: folder, now });
  const api = (...args: string[]) =>
    stage.quick([...args, '--store', 'none'], { cwd: folder, now });
  beforeAll(async () => {
    url = await newUrl();
    expect((await ask('sync')).code).toBe(0);
  });

  test.each([
    ['count'],
    ['count', '--include-extensions'],
    ['count', '--period', '2026-10', '--min-talk', '1m'],
    ['list', '--json'],
    ['list', '--json', '-n', '7'],
    ['list', '--all', '--format', 'ndjson', '--period', '2026-10'],
    ['list', '--all', '--format', 'csv', '--include-extensions'],
    ['export', '-o', '-', '--format', 'ndjson', '--period', '2026-10'],
    ['export', '-o', '-', '--format', 'csv', '--fields', 'sid,ani,talk_minutes'],
    ['report', '--by', 'campaign', '--json'],
    ['report', '--by', 'day,channel', '--from', '20d', '--format', 'csv'],
    ['report', '--by', 'hour', '--where', 'talk_minutes >= 1'],
    [
      'report',
      '--by',
      'campaign',
      '--measures',
      'calls,missed_rate,callers',
      '--period',
      'last month',
      '--compare',
      'previous',
      '--order',
      'missed_rate desc',
      '--limit',
      '3',
    ],
    ['report', '--by', 'caller type,month', '--measures', 'calls,first_time_callers', '--json'],
    [
      'report',
      '--by',
      'landing page',
      '--measures',
      "count(state in ('TX', 'CA')) as south,first",
      '--json',
    ],
    ['report', '--by', 'week', '--period', '2026-Q3', '--compare', 'year', '--format', 'csv'],
    [
      'report',
      '--by',
      'campaign,day',
      '--order',
      'calls desc, day',
      '-n',
      '5',
      '--include-extensions',
    ],
    [
      'report',
      '--by',
      'caller_nth',
      '--where',
      "caller_nth > 1 and channel <> 'x'",
      '--from',
      '30d',
    ],
    ['sheet', 'google-ads-clicks', '--conversion-name', 'Call', '--period', '2026-10', '-o', '-'],
  ])('it answers as the API does: %s %s %s %s', async (...args) => {
    const own = await ask(...args);
    const wanted = await api(...args);
    expect(own).toMatchObject({ code: wanted.code, stdout: wanted.stdout });
    expect(wanted.stdout).not.toBe('');
    if (args[0] !== 'export' && args[0] !== 'sheet')
      expect(own.stderr).toMatch(
        /answered by the store .*: 600 calls of account \d+, the latest of 2026-10-31/,
      );
  });

  test.each([
    ["talk_minutes >= 2 and state in ('TX', 'CA')"],
    ["campaign like '%brand%' or missed"],
    ["caller_type = 'returning' and hour >= 12"],
    ["ppc_campaign = ''"],
  ])('--where leaves the calls of which it is true: %s', async (where) => {
    const all: Call[] = JSON.parse(
      (await api('list', '--all', '--json', '--include-extensions')).stdout,
    );
    const selector = selectCalls(planCalls({ where }));
    for (const call of all) selector.learn(call, 'main');
    const wanted = all
      .filter((call) => selector.judge(call, 'main') === 'selected')
      .map(({ sid }) => sid);
    const sids = (text: string) => JSON.parse(text).map(({ sid }: Call) => sid);
    const asked = ['--where', where, '--include-extensions'];
    expect(sids((await ask('list', '--all', '--json', ...asked)).stdout)).toEqual(wanted);
    expect((await ask('count', ...asked)).stdout).toBe(`${wanted.length}\n`);
    const latest = await ask('list', '--json', '-n', '3', ...asked);
    expect(sids(latest.stdout)).toEqual(wanted.slice(-3).reverse());
    const exported = await ask(
      'export',
      '-o',
      '-',
      '--format',
      'ndjson',
      '--fields',
      'sid',
      ...asked,
    );
    expect(exported.stdout.split('\n').filter(Boolean)).toHaveLength(wanted.length);
  });

  test('a condition with a mistake is explained, and one that no call meets says what the field holds', async () => {
    const mistake = await ask('count', '--where', "stat = 'TX'");
    expect(mistake).toMatchObject({ code: 2, stdout: '' });
    expect(mistake.stderr).toMatch(/did you mean state/i);
    const nothing = ['--where', "channel = 'Trucker'"];
    for (const args of [
      ['report', '--by', 'campaign'],
      ['count'],
      ['list'],
      ['list', '--all', '--json'],
      ['export', '-o', '-', '--format', 'csv'],
    ])
      expect((await ask(...args, ...nothing)).stderr).toMatch(
        /channel is never 'Trucker'; nearest: 'Tracker'\./,
      );
  });

  test('an export says that it has all that match, of how many', async () => {
    const none = ['--where', "channel = 'Trucker'"];

    const written = async (...args: string[]) =>
      (await ask('export', '-o', '-', '--format', 'csv', ...args)).stderr
        .trimEnd()
        .split('\n')
        .at(-1);

    expect(await written(...none)).toBe('complete: 0 calls of 600 in the store, all that match');
    expect(await written('--include-extensions')).toBe(
      'complete: 600 calls, all that the store has',
    );
  });

  test('a period of which the copy knows nothing is named, also where calls are only counted', async () => {
    for (const args of [['report'], ['count'], ['list']]) {
      const { code, stderr } = await ask(...args, '--period', 'last year');
      expect({ code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(
          /The first call is from 2026-\S+ \S+: nothing is known of the period before/,
        ),
      });
      expect(stderr).not.toContain('which time zone');
    }
  });

  test('how calls through call extensions are counted is said in one sentence', async () => {
    const left =
      /^(\d+) calls through call extensions are left out. --include-extensions adds them.$/m;
    const [, number] = left.exec((await ask('count')).stderr) ?? [];
    expect(Number(number)).toBeGreaterThan(10);
    expect((await ask('report', '--by', 'channel')).stderr).toMatch(left);
    const counted = `${number} calls through call extensions are counted; the API leaves them out without inc_gce:1.`;
    for (const args of [
      ['count', '--include-extensions'],
      ['sql', 'select count(*) from calls'],
    ])
      expect((await ask(...args)).stderr).toContain(counted);

    expect((await ask('sql', 'select 1')).stderr).not.toContain('extensions');
    expect(await ask('sql', '-- a note\nselect 7 as n', '--json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('7'),
    });

    // How many they are, the API says only to who asks again.
    expect((await api('count')).stderr).toContain('Calls through call extensions are left out');
  });

  test('it has one call by its ID, and says when there is none', async () => {
    const sid = JSON.parse((await api('list', '--json', '-n', '1')).stdout)[0].sid;
    expect((await ask('get', sid, '--json')).stdout).toBe((await api('get', sid, '--json')).stdout);
    expect(await ask('get', '5')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('there is no call'),
    });
  });

  test('it answers SQL, in every format alike', async () => {
    const sql =
      "select ppc_campaign, count(*) as calls, count(*) filter (where talk_minutes = 0) as missed, sum(call_duration) as seconds from calls where date_added >= '2026-10-01' group by 1 order by 2 desc, 1";
    const wanted = new Map<string | null, [number, number, number]>();
    const all = (
      await api('list', '--all', '--json', '--include-extensions', '--from', '2026-10-01')
    ).stdout;
    for (const call of JSON.parse(all)) {
      const [calls, missed, seconds] = wanted.get(call.ppc_campaign) ?? [0, 0, 0];
      const isMissed = Number(call.talk_minutes) === 0 ? 1 : 0;
      wanted.set(call.ppc_campaign, [
        calls + 1,
        missed + isMissed,
        seconds + Number(call.call_duration),
      ]);
    }

    const rows = JSON.parse((await ask('sql', sql, '--json')).stdout);
    expect(
      new Map(
        rows.map((row: Record<string, unknown>) => [
          row.ppc_campaign,
          [row.calls, row.missed, row.seconds],
        ]),
      ),
    ).toEqual(wanted);
    const lines = (await ask('sql', sql, '--format', 'ndjson')).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows);
    const csv = (await ask('sql', sql, '--format', 'csv')).stdout.split('\r\n');
    expect(csv[0]).toBe('ppc_campaign,calls,missed,seconds');
    expect(csv).toHaveLength(rows.length + 2);
    const table = await ask('sql', sql, '--limit', '2');
    expect(table.stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(table.stderr).toMatch(/the first 2 rows; there are more[\s\S]*answered by the/);
    const file = join(folder, `${kind}.parquet`);
    expect((await ask('sql', sql, '-o', file)).code).toBe(0);
    expect(readFileSync(file).subarray(0, 4).toString()).toBe('PAR1');
  });

  test.each([
    ['delete from calls'],
    ['drop view calls'],
    ['select 1; delete from records'],
    ["update calls set city = 'x'"],
  ])('it refuses SQL that does more than read: %s', async (sql) => {
    const refused = await ask('sql', sql);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect((await ask('count', '--include-extensions')).stdout).toBe('600\n');
  });

  test('a mistake in SQL is a sentence, and so is a time limit', async () => {
    const mistake = await ask('sql', 'select ppc_campain from calls');
    expect(mistake).toMatchObject({ code: 2, stdout: '' });
    expect(mistake.stderr).toMatch(
      /^calls: The SQL has a mistake: there is no column ppc_campain\.\n.*did you mean ppc_campaign\?\n$/m,
    );

    for (const [column, hint] of [
      ['c.talk_minuts', 'did you mean talk_minutes?\n'],
      ['campaign', 'did you mean ppc_campaign'],
      ['zzz', 'the view calls has a column for each field: calls fields lists them\n'],
    ] as const) {
      const { stderr } = await ask('sql', `select ${column} from calls c`);
      expect(stderr).toContain(
        `The SQL has a mistake: there is no column ${column.replace('c.', '')}.\n`,
      );
      expect(stderr).toContain(hint);
    }

    const long = await ask('sql', endless, '--timeout', '1s');
    expect(long).toMatchObject({ code: 1, stdout: '' });
    expect(long.stderr).toContain('took longer than its time limit');
  });

  test('Ctrl-C ends a long statement', async () => {
    let isSent = false;
    const ended = await stage.calls(['sql', endless, '--store', url], {
      cwd: folder,
      watch({ stderr }, child) {
        if (!isSent && stderr.includes('reading the ')) isSent = child.kill('SIGINT');
      },
    });
    expect(ended).toMatchObject({ code: 130, signal: null, stdout: '' });
  });

  test('calls verify counts it, read-only, and compares it with the API', async () => {
    const verified = await stage.quick(['verify', url, '--against-api', '--json'], {
      cwd: folder,
      now,
    });
    expect(verified.code).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({
      verdict: 'proved',
      checks: [{ rows: 600 }],
    });
  });

  test('reading leaves no file behind', async () => {
    await ask('count');
    await ask('sql', 'select 1');
    const file = url.replace(/^\w+:/, '');
    if (kind === 'postgres') return;
    const parent = join(file, '..');
    expect(readdirSync(parent).filter((name) => join(parent, name).startsWith(`${file}-`))).toEqual(
      [],
    );
  });
});

describe('what is no copy', () => {
  test.each([
    ['count'],
    ['list'],
    ['report'],
    ['sql', 'select 1'],
    ['get', '5'],
    ['export', '-o', 'out.csv'],
  ])('a file that is not there is not made: %s', async (...args) => {
    const missing = await stage.quick([...args, '--store', 'sqlite:none.db'], { cwd: folder });
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toMatch(/calls sync/);
    expect(readdirSync(folder).filter((name) => /none|out/.test(name))).toEqual([]);
  });

  test('a file of another kind, a password in the URL, and a URL that names nothing are refused', async () => {
    writeFileSync(
      join(folder, 'text.db'),
      'not a database, but text that is long enough to be read as one'.repeat(50),
    );

    for (const [store, message] of [
      ['sqlite:text.db', /not a SQLite database|is not a database/],
      ['postgres://calls:secret@localhost/calls', /must not have a password/],
      ['calls.db', /There is no store sqlite:.*calls.db/],
      [
        'duckdb:calls.duckdb',
        /not a DuckDB file\n.*sqlite:calls.db.*\n.*ATTACH 'calls.db'.*--partition month/,
      ],
    ] as const)
      for (const command of [['count'], ['sql', 'select 1']]) {
        const refused = await stage.quick([...command, '--store', store], { cwd: folder });
        expect(refused.code).not.toBe(0);
        expect(refused.stderr).toMatch(message);
        expect(refused.stderr).not.toContain('secret');
      }

    expect(existsSync(join(folder, 'calls.db'))).toBe(false);
  });
});
