import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtureCalls, type HostileServer, startHostileServer } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStage } from './stage.ts';

const stage = openStage();
const calls = fixtureCalls(60).map((call, i) => ({ ...call, acct_id: '101', ani: `555555${1000 + i}` }));
const bad = [calls[7], calls[31], calls[59]].map((call) => call?.sid as string);
/** Which records the server breaks. */
let broken: readonly string[] = bad;
let server: HostileServer;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startHostileServer({
    calls,
    fault: () => ({
      change: (response) => {
        let body = response.body.toString();
        for (const sid of broken)
          body = body.replace(new RegExp(`("sid":"${sid}".*?"talk_minutes":)"[^"]*"`), '$1 1.2.3');
        return { ...response, body: Buffer.from(body) };
      },
    }),
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
      const letters = join(cwd, `${output === '-' ? 'calls' : output}.dead-letters.ndjson`);
      if (process.platform !== 'win32') expect(statSync(letters).mode & 0o777).toBe(0o600);
      expect(linesOf(letters).map(({ sid }) => sid)).toEqual(bad);
      const [first] = linesOf(letters);
      expect(first).toMatchObject({
        version: 'v3',
        account: null,
        filed: '2026-11-21T12:00:00.000Z',
        reason: { code: 'invalid_json' },
        record: expect.stringMatching(/^\{.*"talk_minutes": 1\.2\.3.*\}$/),
      });
      // The same again adds nothing.
      await run(cwd, args);
      expect(linesOf(letters)).toHaveLength(3);
    },
  );

  test('a resumed export does not lose what was set aside before it stopped', async () => {
    const cwd = stage.folder();
    const args = [
      'export',
      '-o',
      'calls.ndjson',
      '--rows',
      '5',
      '--prefetch',
      '1',
      '--on-bad-record',
      'file',
    ];
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
    expect(sidsIn(join(cwd, 'calls.ndjson.dead-letters.ndjson')).sort()).toEqual([...bad].sort());
  });

  test('it refuses a file without the policy for it', async () => {
    const cwd = stage.folder();
    const args = ['export', '-o', 'calls.ndjson', '--dead-letters', 'x.ndjson', '--on-bad-record', 'skip'];
    expect(await run(cwd, args)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--on-bad-record file/),
    });
  });
});

describe('calls sync', () => {
  const sync = ['sync', '--store', 'sqlite:calls.db', '--account', '101', '--lookback', '9999d', '--json'];
  const letters = 'calls.db.dead-letters.ndjson';

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
      expect.objectContaining({ new: 57, skipped: 3, deadLetters: null }),
    ]);
    expect(skipped.stderr).toMatch(/INCOMPLETE: left out 3 records/);
    const filed = await run(cwd, [...sync, '--on-bad-record', 'file']);
    expect([filed.code, JSON.parse(filed.stdout)]).toEqual([
      0,
      expect.objectContaining({ same: 57, skipped: 3, deadLetters: letters }),
    ]);
    expect(filed.stderr).toMatch(/set aside in calls\.db\.dead-letters\.ndjson: 3 records/);
    expectDiscreet(filed.stderr);
    expect(await stored(cwd)).toEqual(good);
    expect(linesOf(join(cwd, letters))).toMatchObject(
      bad.map((sid) => ({ sid, account: '101', before: null })),
    );
  });

  test('the next sync takes up what can be read now', async () => {
    const cwd = stage.folder();
    await run(cwd, [...sync, '--on-bad-record', 'file']);
    broken = bad.slice(0, 1);
    await run(cwd, [...sync, '--on-bad-record', 'file']);
    expect(sidsIn(join(cwd, letters))).toEqual(broken);
    broken = [];
    await run(cwd, [...sync, '--on-bad-record', 'file']);
    expect(existsSync(join(cwd, letters))).toBe(false);
    expect(await stored(cwd)).toEqual(all);
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
    const [letter] = linesOf(join(cwd, letters));
    expect(letter).toMatchObject({ sid: '', reason: { code: 'unfit_record' } });
    expect(JSON.parse(letter?.record as string)).toEqual(calls[60]);
  });

  describe('calls retry-dead-letters', () => {
    const retry = ['retry-dead-letters', letters, '--store', 'sqlite:calls.db', '--json'];
    /** The dead letters of a sync, with the JSON of some records put right, as an update of the reader would. */
    async function withLetters(mended: readonly string[]): Promise<string> {
      const cwd = stage.folder();
      await run(cwd, [...sync, '--on-bad-record', 'file']);
      const text = linesOf(join(cwd, letters)).map((letter) => {
        const isRight = mended.includes(letter.sid as string);
        const record = isRight ? String(letter.record).replace(' 1.2.3', '"1.2"') : letter.record;
        return `${JSON.stringify({ ...letter, record })}\n`;
      });
      writeFileSync(join(cwd, letters), text.join(''));
      return cwd;
    }

    test('it stores what can be read now, keeps the rest, and does no harm when it is repeated', async () => {
      const cwd = await withLetters(bad.slice(0, 2));
      appendFileSync(join(cwd, letters), '{"half a line');
      const look = await run(cwd, ['retry-dead-letters', letters]);
      expect([look.code, look.stderr]).toEqual([
        3,
        expect.stringMatching(/2 records can be read now; name --store or --output/),
      ]);
      expect(await stored(cwd)).toEqual(good);
      const before = readFileSync(join(cwd, letters));
      const first = await run(cwd, retry);
      expect([first.code, JSON.parse(first.stdout)]).toEqual([
        3,
        {
          file: letters,
          target: expect.any(String),
          moved: 2,
          outdated: 0,
          erased: 0,
          kept: 2,
          reasons: { invalid_json: 1, not_a_letter: 1 },
        },
      ]);
      expect(await stored(cwd)).toEqual([...good, ...bad.slice(0, 2)].sort());
      expect(readFileSync(join(cwd, letters), 'utf8')).toContain('{"half a line');
      if (process.platform !== 'win32') expect(statSync(join(cwd, letters)).mode & 0o777).toBe(0o600);
      // As after a crash before the file was rewritten.
      writeFileSync(join(cwd, letters), before);
      expect(JSON.parse((await run(cwd, retry)).stdout)).toMatchObject({ moved: 2, kept: 2 });
      expect(await stored(cwd)).toEqual([...good, ...bad.slice(0, 2)].sort());
    });

    test('a warehouse is filled, and takes the records, in the same way', async () => {
      const cwd = stage.folder();
      const warehouse = ['--store', 'duckdb:calls.duckdb', '--json'];
      const filed = await run(cwd, ['sync', ...warehouse, '--on-bad-record', 'file']);
      expect(JSON.parse(filed.stdout)).toMatchObject({ new: 57, skipped: 3 });
      const path = join(cwd, 'calls.duckdb.dead-letters.ndjson');
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(' 1.2.3', '\\"1.2\\"'));
      const moved = await run(cwd, ['retry-dead-letters', 'calls.duckdb.dead-letters.ndjson', ...warehouse]);
      expect([moved.code, JSON.parse(moved.stdout)]).toEqual([
        0,
        expect.objectContaining({ target: 'warehouse calls.duckdb', moved: 3, kept: 0 }),
      ]);
      const count = await run(cwd, ['count', '--include-extensions', '--store', 'duckdb:calls.duckdb']);
      expect(count.stdout).toBe('60\n');
    });

    test('it removes the file with the last record', async () => {
      const cwd = await withLetters(bad);
      expect(await run(cwd, retry)).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/3 records moved/),
      });
      expect(existsSync(join(cwd, letters))).toBe(false);
      expect((await run(cwd, retry)).code).toBe(2);
    });

    test('it does not replace what the store has received since', async () => {
      const cwd = await withLetters(bad);
      const store = await openStore(`sqlite:${join(cwd, 'calls.db')}`);
      const newer = { ...(calls[7] as (typeof calls)[0]), phone_label: 'newer' };
      await store.upsert('101', [newer]);
      expect(JSON.parse((await run(cwd, retry)).stdout)).toMatchObject({ moved: 2, outdated: 1, kept: 0 });
      expect(await store.get('101', newer.sid)).toMatchObject({ phone_label: 'newer' });
      await store.close();
    });

    test('it forgets the records of an erased caller', async () => {
      const cwd = await withLetters(bad);
      const store = await openStore(`sqlite:${join(cwd, 'calls.db')}`);
      await store.erase('101', calls[7]?.ani as string);
      await store.close();
      expect(JSON.parse((await run(cwd, retry)).stdout)).toMatchObject({ moved: 2, erased: 1, kept: 0 });
      expect(existsSync(join(cwd, letters))).toBe(false);
      expect(await stored(cwd)).not.toContain(bad[0]);
    });

    test('it adds the calls of an export to an NDJSON file, each once', async () => {
      const cwd = await withLetters(bad);
      await run(cwd, ['export', '-o', 'calls.ndjson', '--on-bad-record', 'skip']);
      const before = readFileSync(join(cwd, letters));
      for (const round of ['first', 'after a crash']) {
        writeFileSync(join(cwd, letters), before);
        const { code } = await run(cwd, ['retry-dead-letters', letters, '-o', 'calls.ndjson']);
        expect([round, code]).toEqual([round, 0]);
        expect(sidsIn(join(cwd, 'calls.ndjson')).sort()).toEqual(all);
      }
    });

    test.each([
      [[letters, '--store', 'sqlite:x.db', '--output', 'x.ndjson'], /exclude each other/],
      [[letters, '--output', 'x.csv'], /NDJSON/],
      [[letters, '--store', 'postgres://me:hidden@db/x'], /must not have a password/],
      [['nothing.ndjson'], /there is no file nothing\.ndjson/],
    ])('it refuses %j', async (args, said) => {
      const cwd = await withLetters([]);
      const { code, stderr } = await run(cwd, ['retry-dead-letters', ...args]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
    });
  });
});
