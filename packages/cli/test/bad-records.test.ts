import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtureCalls, type HostileServer, startHostileServer } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runNode } from './program.ts';
import { openStage } from './stage.ts';

const stage = openStage();
const calls = fixtureCalls(60).map((call, i) => ({ ...call, acct_id: '101', ani: `555555${1000 + i}` }));
const bad = [calls[7], calls[31], calls[59]].map((call) => call?.sid as string);
/** Which records the server breaks. */
let broken: readonly string[] = bad;
/** A response with the records of `broken` that are no JSON. */
function broke<R extends { readonly body: Buffer }>(response: R): R {
  let body = response.body.toString();
  for (const sid of broken)
    body = body.replace(new RegExp(`("sid":"${sid}".*?"talk_minutes":)"[^"]*"`), '$1 1.2.3');
  return { ...response, body: Buffer.from(body) };
}
let server: HostileServer;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startHostileServer({
    calls,
    fault: () => ({ change: broke }),
  });
  env = {
    CALLS_BASE_URL: server.url,
    CALLS_ACCESS_KEY: 'key-one',
    CALLS_SECRET_KEY: 'key-two',
    CALLS_TIME_ZONE: 'UTC',
  };
});
beforeEach(() => {
  broken = bad;
  calls.length = 60;
});
afterAll(async () => {
  await server.close();
  await stage.close();
});

const run = (cwd: string, args: readonly string[]) => stage.quick(args, { cwd, env });
const linesOf = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const sidsIn = (path: string) => linesOf(path).map(({ sid }) => sid as string);
const all = calls.map(({ sid }) => sid).sort();
const good = all.filter((sid) => !bad.includes(sid));

/** No number of a caller and no record may be in what was said. */
function expectDiscreet(stderr: string): void {
  expect(stderr).not.toMatch(/555555|1\.2\.3/);
}

describe('calls export', () => {
  test('it stops at a bad record by default, and names the way out', async () => {
    const cwd = stage.folder();
    const { code, stderr } = await run(cwd, ['export', '-o', 'calls.ndjson']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/not valid JSON[\s\S]*→ --on-bad-record file[\s\S]*→ --on-bad-record skip/);
    expectDiscreet(stderr);
  });

  test('skip leaves it out, and the result is incomplete', async () => {
    const cwd = stage.folder();
    const { code, stderr } = await run(cwd, ['export', '-o', 'calls.ndjson', '--on-bad-record', 'skip']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/INCOMPLETE: 57 calls; 3 calls could not be read/);
    expect(sidsIn(join(cwd, 'calls.ndjson')).sort()).toEqual(good);
  });

  test.each(['calls.ndjson', 'calls.csv.gz', 'calls.parquet', '-'])(
    'file sets it aside next to %s, whole and for the owner only',
    async (output) => {
      const cwd = stage.folder();
      const args = ['export', '-o', output, '--rows', '7', '--on-bad-record', 'file'];
      const { code, stderr } = await run(cwd, args);
      expect([code, stderr]).toEqual([
        0,
        expect.stringMatching(
          /complete: 57 calls written and 3 records set aside in \S+, together as many as the server counts/,
        ),
      ]);
      expectDiscreet(stderr);
      const file = join(cwd, `${output === '-' ? 'calls' : output}.bad-records.ndjson`);
      if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(linesOf(file).map(({ sid }) => sid)).toEqual(bad);
      const [first] = linesOf(file);
      expect(first).toMatchObject({
        time: '2026-11-21T12:00:00.000Z',
        account: null,
        version: 'v3',
        code: 'invalid_json',
        reason: expect.stringMatching(/not valid JSON/),
        record: expect.stringMatching(/^\{.*"talk_minutes": 1\.2\.3.*\}$/),
      });
      // The same again adds nothing.
      await run(cwd, args);
      expect(linesOf(file)).toHaveLength(3);
    },
  );

  test
    .runIf(process.platform !== 'win32')
    .each([
      ['a link to another file', 'is a link to another place', 'ln -s victim "$1"'],
      ['a link to nothing', 'is a link to another place', 'ln -s nowhere "$1"'],
      ['a pipe', 'is not a regular file', 'mkfifo "$1"'],
      ['a second name of another file', 'is also a file in another place', 'ln victim "$1"'],
      ...(process.geteuid?.() === 0
        ? [
            [
              'a file of another user',
              'belongs to another user',
              'echo "{}" > "$1"; chown 65534 "$1"; chmod 666 "$1"',
            ],
          ]
        : []),
    ])('nothing is set aside in %s', async (_, said, plant) => {
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'victim'), 'precious');
    execFileSync('sh', ['-c', plant, 'sh', 'calls.ndjson.bad-records.ndjson'], { cwd });
    const { code, stderr } = await run(cwd, ['export', '-o', 'calls.ndjson', '--on-bad-record', 'file']);
    expect(code).not.toBe(0);
    expect(stderr).toContain(said);
    expectDiscreet(stderr);
    expect(readFileSync(join(cwd, 'victim'), 'utf8')).toBe('precious');
    expect(readdirSync(cwd)).not.toContain('nowhere');
  });

  test('a resumed export does not lose what was set aside before it stopped', async () => {
    const cwd = stage.folder();
    const args = ['export', '-o', 'calls.ndjson', '--rows', '5', '--on-bad-record', 'file'];
    const stop = new AbortController();
    let requests = server.requests.length;
    const timer = setInterval(() => {
      if (server.requests.length > requests + 8) stop.abort();
    }, 1);
    const stopped = await stage.quick(args, { cwd, env, signal: stop.signal });
    clearInterval(timer);
    requests = server.requests.length;
    expect(stopped.code).toBe(130);
    const { code, stderr } = await run(cwd, [...args, '--resume']);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/complete: 57 calls written and 3 records set aside/),
    ]);
    expect(sidsIn(join(cwd, 'calls.ndjson')).sort()).toEqual(good);
    expect(sidsIn(join(cwd, 'calls.ndjson.bad-records.ndjson')).sort()).toEqual([...bad].sort());
  });

  test.each([
    ['skp', /--on-bad-record cannot be "skp"\n.*did you mean skip\?\n.*use stop, skip, file or file:NAME/],
    ['bad.ndjson', /--on-bad-record cannot be "bad\.ndjson"\n.*file:NAME/],
    ['file:/dev/full', /--on-bad-record file:\/dev\/full is not a regular file/],
    ['file:.', /is a folder/],
  ])('--on-bad-record %s is refused', async (what, said) => {
    const cwd = stage.folder();
    const { code, stderr } = await run(cwd, ['export', '-o', 'calls.ndjson', '--on-bad-record', what]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
  });

  const exportTo = [
    'export',
    '--output',
    '/dev/null',
    '--format',
    'ndjson',
    '--on-bad-record',
    'file:bad.ndjson',
  ];

  test.each([
    ['a part of a line that a killed run has left is removed', '{"sid":"torn","rec', []],
    ['a line without its end gets it', '{"sid":"edited","record":"x"}', ['edited']],
    ['lines of others stay', 'a note\n\n{"sid":"other"}\n', ['other']],
  ])('%s', async (_, before, kept) => {
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'bad.ndjson'), before);
    expect((await run(cwd, exportTo)).code).toBe(0);
    const json = readFileSync(join(cwd, 'bad.ndjson'), 'utf8').split('\n').slice(0, -1);
    const sids = json.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line).sid] : []));
    expect(sids).toEqual([...kept, ...bad]);
  });

  test("processes that add to one file at the same time keep each other's lines, each once", async () => {
    const cwd = stage.folder();
    const same = ['sync', '--on-bad-record', 'file:bad.ndjson', '--account'];
    const runs = ['1', '2', '3'].map((id) => run(cwd, [...same, id, '--store', `sqlite:${id}.db`]));
    expect((await Promise.all(runs)).map(({ code }) => code)).toEqual([0, 0, 0]);
    const found = linesOf(join(cwd, 'bad.ndjson')).map(({ account, sid }) => `${account} ${sid}`);
    const wanted = ['1', '2', '3'].flatMap((id) => bad.map((sid) => `${id} ${sid}`));
    expect(found.sort()).toEqual(wanted.sort());
  });

  // Windows has no limit on the size of the files of a process.
  test.skipIf(process.platform === 'win32')(
    'on a full disk it ends with status 7 and the name of the file, which keeps whole lines',
    async () => {
      const cwd = stage.folder();
      broken = bad.slice(0, 1);
      await run(cwd, exportTo);
      broken = bad;
      const blocks = Math.ceil(statSync(join(cwd, 'bad.ndjson')).size / 512);
      const { code, stderr } = await runNode([], {
        shell: [
          'sh',
          '-c',
          `trap '' XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`,
          process.execPath,
          stage.bin,
          ...exportTo,
        ],
        cwd,
        env,
      });
      expect([code, stderr]).toEqual([
        7,
        expect.stringMatching(/calls: bad\.ndjson: the file is larger than the limit \(EFBIG\)/),
      ]);
      expect(stderr).not.toMatch(/set aside|complete/);
      expect(sidsIn(join(cwd, 'bad.ndjson'))).toEqual(broken.slice(0, 1));
      expect((await run(cwd, exportTo)).code).toBe(0);
      expect(sidsIn(join(cwd, 'bad.ndjson'))).toEqual(bad);
    },
  );
});

describe('calls sync', () => {
  const sync = ['sync', '--store', 'sqlite:calls.db', '--account', '101', '--lookback', '9999d', '--json'];
  const file = 'calls.db.bad-records.ndjson';

  async function stored(cwd: string): Promise<string[]> {
    const store = await openStore(`sqlite:${join(cwd, 'calls.db')}`);
    const sids: string[] = [];
    for await (const { sid } of store.calls('101')) sids.push(sid);
    await store.close();
    return sids.sort();
  }

  test('it stops by default and names the way out; skip and file bring in all other calls', async () => {
    const cwd = stage.folder();
    const stopped = await run(cwd, sync);
    expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringMatching(/→ --on-bad-record file/)]);
    const skipped = await run(cwd, [...sync, '--on-bad-record', 'skip']);
    expect([skipped.code, JSON.parse(skipped.stdout)]).toEqual([
      3,
      expect.objectContaining({ new: 57, skipped: 3, badRecords: null }),
    ]);
    expect(skipped.stderr).toMatch(/INCOMPLETE: left out 3 records/);
    const filed = await run(cwd, [...sync, '--on-bad-record', 'file']);
    expect([filed.code, JSON.parse(filed.stdout)]).toEqual([
      0,
      expect.objectContaining({ same: 57, skipped: 3, badRecords: file }),
    ]);
    expect(filed.stderr).toMatch(/set aside in calls\.db\.bad-records\.ndjson: 3 records/);
    expectDiscreet(filed.stderr);
    expect(await stored(cwd)).toEqual(good);
    expect(linesOf(join(cwd, file))).toMatchObject(
      bad.map((sid) => ({ sid, account: '101', code: 'invalid_json' })),
    );
  });

  test('the next sync stores what can be read now, and adds nothing to the file that it has', async () => {
    const cwd = stage.folder();
    await run(cwd, [...sync, '--on-bad-record', 'file']);
    broken = bad.slice(0, 1);
    const { stderr } = await run(cwd, [...sync, '--on-bad-record', 'file']);
    expect(stderr).toMatch(/set aside in calls\.db\.bad-records\.ndjson: 1 record /);
    expect(sidsIn(join(cwd, file))).toEqual(bad);
    broken = [];
    expect((await run(cwd, [...sync, '--on-bad-record', 'file'])).stderr).not.toMatch(/set aside/);
    expect(await stored(cwd)).toEqual(all);
  });

  test('a warehouse is filled in the same way', async () => {
    const cwd = stage.folder();
    const warehouse = ['--store', 'duckdb:calls.duckdb', '--json'];
    const filed = await run(cwd, ['sync', ...warehouse, '--on-bad-record', 'file']);
    expect(JSON.parse(filed.stdout)).toMatchObject({ new: 57, skipped: 3 });
    expect(sidsIn(join(cwd, 'calls.duckdb.bad-records.ndjson'))).toEqual(bad);
  });

  test('a resumed sync goes on where it was, and each record is in the file once', async () => {
    const cwd = stage.folder();
    const stop = new AbortController();
    const pages = await startHostileServer({
      calls,
      maxRows: 5,
      fault: () => ({
        change(response) {
          if (pages.requests.length === 9) stop.abort();
          return broke(response);
        },
      }),
    });
    const args = [...sync, '--base-url', pages.url, '--on-bad-record', 'file'];
    expect((await stage.quick(args, { cwd, env, signal: stop.signal })).code).toBe(130);
    const resumed = await stage.quick(args, { cwd, env });
    await pages.close();
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringMatching(/: 2 records that/)]);
    expect(sidsIn(join(cwd, file)).sort()).toEqual([...bad].sort());
    expect(await stored(cwd)).toEqual(good);
  });

  test('a call that only the store refuses is set aside too, and the others of its page are stored', async () => {
    const cwd = stage.folder();
    broken = [];
    calls.push({ ...(calls[30] as (typeof calls)[0]), sid: '' });
    const stopped = await run(cwd, sync);
    expect([stopped.code, stopped.stderr]).toEqual([
      1,
      expect.stringMatching(/sid[\s\S]*→ --on-bad-record file/),
    ]);
    const filed = await run(cwd, [...sync, '--on-bad-record', 'file']);
    expect([filed.code, JSON.parse(filed.stdout)]).toEqual([
      0,
      expect.objectContaining({ new: 60, skipped: 1 }),
    ]);
    expect(await stored(cwd)).toEqual(all);
    const [line] = linesOf(join(cwd, file));
    expect(line).toMatchObject({ sid: '', code: 'unfit_record' });
    expect(JSON.parse(line?.record as string)).toEqual(calls[60]);
  });
});
