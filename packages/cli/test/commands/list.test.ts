import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeApiServer, fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startLive } from '../live.ts';
import { openStage, serverThat } from '../stage.ts';

const stage = openStage();

describe('calls list', () => {
  test('it prints a plain table when piped, without cutting, and messages on stderr', async () => {
    const { code, stdout, stderr } = await stage.quick(['list', '-n', '3']);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(
      /^date_added +sid +ani +talk_minutes +channel +ppc_campaign +phone_label +referrer +ppc_status$/,
    );
    expect(stdout).not.toContain('\u001b');
    expect(stderr).toMatch(/3 calls: the latest of \d+\n-n 30 shows more, --all shows all calls/);
  });

  test('it fits the width of COLUMNS and names the fields that did not fit', async () => {
    const { stdout, stderr } = await stage.quick(['list', '-n', '3'], { env: { COLUMNS: '80' } });
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(stderr).toMatch(/not enough width for .*ppc_status/);
  });

  test('it prints the same calls in every data format', async () => {
    const columns = ['--fields', 'sid,ani', '-n', '5'];
    const json = JSON.parse((await stage.quick(['list', '--json', ...columns])).stdout);
    const ndjson = (await stage.quick(['list', '--format', 'ndjson', ...columns])).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const csv = (await stage.quick(['list', '--format', 'csv', ...columns])).stdout
      .trimEnd()
      .split('\r\n');
    expect(json).toHaveLength(5);
    expect(ndjson).toEqual(json);
    expect(csv).toEqual([
      'sid,ani',
      ...json.map((call: { sid: string; ani: string }) => `${call.sid},${call.ani}`),
    ]);
  });

  test('the latest calls come first, even when they take several requests, and --all begins with the oldest', async () => {
    const sids = async (...args: string[]) =>
      (await stage.quick(['list', '--format', 'csv', '--fields', 'sid', ...args])).stdout
        .trimEnd()
        .split('\r\n')
        .slice(1);

    const all = await sids('--all');
    expect(new Set(all).size).toBe(all.length);
    const newest = all.toReversed();
    expect(await sids('-n', '7')).toEqual(newest.slice(0, 7));
    expect(await sids('-n', '300')).toEqual(newest.slice(0, 300));
    expect(await sids('-n', '600')).toEqual(newest);
  });

  test('it says which calls it shows', async () => {
    const said = async (...args: string[]) =>
      (await stage.quick(['list', ...args])).stderr.split('\n');
    expect(await said('-n', '2')).toEqual([
      expect.stringMatching(/^2 calls: the latest of \d+$/),
      '-n 20 shows more, --all shows all calls',
      'Calls through call extensions are left out. --include-extensions adds them.',
      '',
    ]);
    expect((await said('-n', '1000', '--include-extensions'))[0]).toBe('600 calls: all that match');
    expect((await said('--all', '--include-extensions'))[0]).toMatch(
      /^complete: 600 calls, as many as the server counts/,
    );
  });

  test('the latest calls have no gap and no double while new ones arrive, whatever the order of the server', async () => {
    const at = (i: number) =>
      callWith({ sid: String(i), date_added: `2026-10-01 00:${String(i).padStart(2, '0')}:00` });

    const served = async (calls: ReturnType<typeof at>[], arriving: number, ...args: string[]) => {
      const server = await serverThat((response, url) => {
        const { searchParams } = new URL(url, 'http://127.0.0.1');
        const rows = Number(searchParams.get('rows'));
        const start = Number(searchParams.get('start')) * rows;
        const page = calls.slice(start, start + rows);
        response
          .setHeader('content-type', 'application/json')
          .setHeader('content-range', `${start + 1}-${start + page.length}/${calls.length}`)
          .end(JSON.stringify(page));
        for (let i = 0; i < arriving; i += 1) calls.push(at(calls.length));
      });
      const env = { CALLS_BASE_URL: server.url };
      const result = await stage.quick(['list', '--format', 'csv', '--fields', 'sid', ...args], {
        env,
      });
      server.close();
      return { stderr: result.stderr, sids: result.stdout.trimEnd().split('\r\n').slice(1) };
    };

    const upTo = (count: number) => Array.from({ length: count }, (_, i) => at(i));
    const down = (high: number, count: number) =>
      Array.from({ length: count }, (_, i) => String(high - i));
    expect((await served(upTo(30), 0, '-n', '7')).sids).toEqual(down(29, 7));

    // Two calls arrive after each response: the page that was last is followed by another one.
    expect((await served(upTo(28), 2, '-n', '7')).sids).toEqual(down(31, 7));
    expect((await served(upTo(30).reverse(), 0, '-n', '7')).sids).toEqual(down(29, 7));
    const mixed = [...upTo(30).slice(10), ...upTo(10)];
    expect((await served(mixed, 0, '-n', '7')).stderr).toMatch(
      /not list calls in the order of time/,
    );
  });

  test('it says so when no calls match', async () => {
    const result = await stage.quick(['list', '--period', '1999-01-01']);
    expect(result).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(
        /^1999-01-01 00:00:00 to 1999-01-01 23:59:59, America\/New_York\nThe first call is from 2026-.*\nno calls match\n$/,
      ),
    });
    const json = await stage.quick(['list', '--json', '--period', '1999-01-01']);
    expect(json.stdout).toBe('[]\n');
    expect(json.stderr).toMatch(/^1999-01-01 .*\nThe first call is from 2026-.*\n$/);
  });

  test('the options for time, talk and extensions give the same calls as --q', async () => {
    const count = async (...args: string[]) =>
      Number((await stage.quick(['count', ...args])).stdout);
    const byHand = await count(
      '--q',
      'date_added:[2026-09-01 00:00:00 TO 2026-10-01 00:00:00},talk_minutes:[2 TO *],inc_gce:1',
    );
    expect(await count('--period', '2026-09', '--min-talk', '2m', '--include-extensions')).toBe(
      byHand,
    );
    expect(
      await count(
        '--from',
        '2026-09-01',
        '--to',
        '2026-09-30',
        '--q',
        'talk_minutes:[2 TO *],inc_gce:1',
      ),
    ).toBe(byHand);
    expect(await count('--period', '2026-09', '--min-talk', '2m')).toBeLessThan(byHand);
  });
});

test('a closed pipe ends the command silently', async () => {
  const { stderr, code } = await stage.calls(['list', '--format', 'ndjson', '--all'], {
    watch: (_, child) => child.stdout?.destroy(),
  });
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
});

test('v2 works with its token and counts calls through extensions', async () => {
  const env = { CALLS_API_VERSION: 'v2', CALLS_BEARER_TOKEN: inject('callsToken') };
  expect((await stage.quick(['count'], { env })).stdout).toBe('600\n');
  expect((await stage.quick(['list', '-n', '1'], { env })).code).toBe(0);

  // The SMS listing takes the key pair, whatever the version.
  expect((await stage.quick(['sms', '--json'], { env })).code).toBe(0);
  const mixed = await stage.quick(['list', '--include-extensions'], { env });
  expect(mixed).toMatchObject({ code: 2 });
  expect(mixed.stderr).toMatch(/v2 always includes/);
});

test('--output writes the rows of a command to a file, in the format of its name', async () => {
  const cwd = stage.folder();
  const run = (...args: string[]) => stage.quick(args, { cwd });
  const { stdout, stderr } = await run('list', '-n3', '--fields', 'sid', '-o', 'calls.csv');
  expect([stdout, stderr]).toEqual(['', expect.stringContaining('wrote calls.csv')]);
  expect(readFileSync(join(cwd, 'calls.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(4);
  await run('report', '--by', 'channel', '-n1', '-o', 'channels.json');
  expect(JSON.parse(readFileSync(join(cwd, 'channels.json'), 'utf8'))).toHaveLength(1);
  await run('report', '--by', 'channel', '-o', 'channels.html');
  expect(readFileSync(join(cwd, 'channels.html'), 'utf8')).toMatch(/^<!doctype html>/i);
  expect((await run('fields', 'gclid', '--format', 'ndjson', '-ofields.txt')).code).toBe(0);
  expect(readFileSync(join(cwd, 'fields.txt'), 'utf8')).toMatch(/^\{"name":"ppc_gclid"/);
  const nowhere = await run('list', '-o', 'nowhere/calls.csv');
  expect(nowhere.code).toBe(7);
  expect(nowhere.stderr).toContain('the folder does not exist');
  expect(await run('count', '--from', '99999d', '--json')).toMatchObject({ code: 0 });
  expect(
    (await run('list', '-n', '2', '--format', 'csv')).stdout.trimEnd().split('\n'),
  ).toHaveLength(3);
});

test('--where over the API is applied while reading, and says how many calls were read and kept', async () => {
  const [long, filter] = [
    ['--where', 'talk_minutes >= 10'],
    ['--q', 'talk_minutes:[10 TO *]'],
  ] as const;
  const counted = await stage.quick(['count', ...long]);
  expect(counted.stdout).toBe((await stage.quick(['count', ...filter])).stdout);
  const said = /^\d+ of the [\d,]+ calls that were read fulfill --where$/m;
  expect(counted.stderr).toMatch(said);
  for (const args of [
    ['list', '-n', '3', '--format', 'ndjson'],
    ['list', '--all', '--json'],
    ['export', '-o', '-'],
    ['report', '--by', 'channel', '--json'],
    ['export', '-o', '-', '--fields', 'campaign,sid'],
  ]) {
    const { code, stdout, stderr } = await stage.quick([...args, ...long]);
    expect([code, stdout]).toEqual([0, (await stage.quick([...args, ...filter])).stdout]);
    expect(stderr).toMatch(said);
  }

  const cwd = stage.folder();
  const rows = Number(counted.stdout);
  await stage.quick(['export', '-o', 'long.ndjson', '--receipt', ...long], { cwd });
  expect(await stage.quick(['verify', 'long.ndjson'], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`proved, ${rows} calls`),
  });
});

describe('calls list --follow', () => {
  const calls = fixtureCalls(40).map((call) => ({ ...call, acct_id: '101' }));
  const byTime = [...calls].sort((a, b) => (a.date_added < b.date_added ? -1 : 1));
  const late = byTime.slice(-3);
  const from = byTime[30]?.date_added ?? '';
  let server: FakeApiServer;
  beforeAll(async () => {
    server = await fakeApi({ calls, order: 'oldest', cap: 100 }).listen();
  });
  afterAll(() => server.close());

  test.each([
    [
      [],
      (sid: string) => new RegExp(`^${byTime.find((call) => call.sid === sid)?.date_added} `, 'm'),
    ],
    [['--json'], (sid: string) => new RegExp(`"sid":"${sid}"`)],
  ])('shows each call once, those that come later, too, until Ctrl-C: %j', async (args, shown) => {
    server.hidden = new Set(late.map(({ sid }) => sid));
    const env = { CALLS_BASE_URL: server.url, CALLS_ACCESS_KEY: 'a', CALLS_SECRET_KEY: 'b' };
    const live = startLive(
      stage,
      ['list', '--follow', '--from', from, '--every', '1s', ...args],
      env,
    );
    await live.until(shown(byTime[36]?.sid ?? ''));
    for (const { sid } of late) expect(live.said().stdout).not.toMatch(shown(sid));
    server.hidden = new Set();
    for (const { sid } of late) await live.until(shown(sid));
    expect(await live.stop()).toBe(0);
    const lines = live.said().stdout.trim().split('\n');
    expect(lines).toHaveLength(10 + (args.length === 0 ? 1 : 0));
    expect(new Set(lines).size).toBe(lines.length);
  });

  test('without a time zone it asks for --from or one', async () => {
    const env = { CALLS_TIME_ZONE: '' };
    expect(await stage.quick(['list', '--follow'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/needs a time zone/),
    });
  });
});

test('a time that begins before the calls do is said once by list, sheet and push, of the API and of a copy', async () => {
  const cwd = stage.folder();
  await stage.quick(['sync', '--store', 'sqlite:calls.db'], { cwd });
  const first = /^The first call is from (\d{4}-\d\d-\d\d) \d\d:\d\d:\d\d: nothing is known/gm;
  const commands = [
    ['list'],
    ['list', '--all', '--where', "state = 'nowhere'"],
    ['sheet', 'google-ads-clicks', '--conversion-name', 'Call', '-o', '-'],
    [
      ...['push', 'google', '--customer', '123-456-7890', '--conversion-action', '987'],
      ...['--dry-run', '--min-talk', '1m'],
    ],
  ];
  for (const place of [[], ['--store', 'sqlite:calls.db']])
    for (const command of commands) {
      const said = async (...typed: string[]) => {
        const zone = ['--time-zone', 'America/New_York'];
        const { code, stderr } = await stage.quick([...command, ...typed, ...place, ...zone], {
          cwd,
        });
        expect({ command, code, stderr }).toMatchObject({ code: 0 });
        return [...stderr.matchAll(first)].map(([, date = '']) => date);
      };
      const dates = await said('--from', '2020-01-01');
      expect({ command, place, dates }).toMatchObject({ dates: [expect.stringMatching(/^2026-/)] });
      expect(await said('--from', dates[0] ?? '')).toEqual([]);
      expect(await said()).toEqual([]);
    }
});
