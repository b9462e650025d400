import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeApiServer, fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage } from './stage.ts';

const stage = openStage();
const fixtures = fixtureCalls(40).map((call) => ({ ...call, acct_id: '101' }));
const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

/**
 * Calls that a server can send and a store cannot keep; a mark stands for what is put into the
 * body.
 */
const unfit = {
  'an empty sid': { sid: '' },
  'JSON 100,000 levels deep': { sid: 'deep', more: '@deep@' },
} as const;
type Unfit = keyof typeof unfit;

const calls = [...fixtures];
let server: FakeApiServer;
let env: Record<string, string>;
beforeAll(async () => {
  const fill = (body: Buffer) =>
    Buffer.from(
      body
        .toString()
        .replace('"@deep@"', () => deep)
        .replaceAll('"@odd@"', '1.2.3'),
    );

  server = await fakeApi({
    calls,
    faults: () => ({ change: (response) => ({ ...response, body: fill(response.body) }) }),
  }).listen();
  env = {
    CALLS_BASE_URL: server.url,
    CALLS_ACCESS_KEY: 'key-one',
    CALLS_SECRET_KEY: 'key-two',
    CALLS_TIME_ZONE: 'UTC',
  };
});
afterAll(() => server.close());

/** The server has the usual calls and these, somewhere among them. */
function serve(...names: readonly Unfit[]): void {
  calls.splice(0, calls.length, ...fixtures);
  for (const [at, name] of names.entries())
    calls.splice(10 + 5 * at, 0, { ...fixtures[30 + at], ...unfit[name] } as (typeof calls)[0]);
}

const names = Object.keys(unfit) as Unfit[];
const sync = 'sync --store sqlite:calls.db --account 101 --lookback 9999d --json';
const syncIn = (cwd: string, more = '') => stage.quick(`${sync} ${more}`, { cwd, env });
async function countIn(cwd: string): Promise<number> {
  const count = 'sql "select count(*) as n from calls" --store sqlite:calls.db --json';
  return Number(JSON.parse((await stage.quick(count, { cwd, env })).stdout)[0].n);
}

describe('calls sync', () => {
  test.each(names)('%s obeys --on-bad-record and is counted once', async (name) => {
    const cwd = stage.folder();
    serve(name);
    const stopped = await syncIn(cwd);
    expect([stopped.code, stopped.stderr]).toEqual([
      1,
      expect.stringMatching(/→ --on-bad-record skip/),
    ]);
    expect(stopped.stderr).not.toMatch(/unexpected|stack/);

    const skipped = await syncIn(cwd, '--on-bad-record skip');
    const { sid } = unfit[name];
    const named = `left out ${/^\w+$/.test(sid) ? sid : JSON.stringify(sid)}: `;
    expect([skipped.code, skipped.stderr]).toEqual([3, expect.stringContaining(named)]);
    const first = JSON.parse(skipped.stdout);
    expect(first.new + first.changed + first.same).toBe(40);
    expect(first).toMatchObject({ skipped: 1 });
    expect(await countIn(cwd)).toBe(40);

    const again = await syncIn(cwd, '--on-bad-record skip');
    expect([again.code, again.stderr]).toEqual([
      3,
      expect.stringMatching(/INCOMPLETE: left out 1 record /),
    ]);
    expect(JSON.parse(again.stdout)).toMatchObject({ new: 0, changed: 0, same: 40, skipped: 1 });
  });

  test('all of them in one page are left out, and the others are stored', async () => {
    const cwd = stage.folder();
    serve(...names);
    const skipped = await syncIn(cwd, '--on-bad-record skip');
    expect([skipped.code, JSON.parse(skipped.stdout)]).toEqual([
      3,
      expect.objectContaining({ new: 40, changed: 0, same: 0, skipped: names.length }),
    ]);
    expect(await countIn(cwd)).toBe(40);
  });

  test('a record of some megabytes is stored, and --restart counts what the rows say', async () => {
    const cwd = stage.folder();
    serve();
    calls[3] = {
      ...(fixtures[3] as (typeof calls)[0]),
      more: 'x'.repeat(3_000_000),
    } as (typeof calls)[0];
    expect(JSON.parse((await syncIn(cwd)).stdout)).toMatchObject({ new: 40, changed: 0, same: 0 });
    calls[3] = {
      ...(fixtures[3] as (typeof calls)[0]),
      more: 'y'.repeat(3_000_000),
    } as (typeof calls)[0];
    calls.push({ ...(fixtures[5] as (typeof calls)[0]), sid: 'late' });
    expect(JSON.parse((await syncIn(cwd, '--restart')).stdout)).toMatchObject({
      new: 1,
      changed: 1,
      same: 39,
    });
  });
});

describe('half of a surrogate pair in a field', () => {
  const serveHalf = () => {
    serve();
    calls[3] = {
      ...(fixtures[3] as (typeof calls)[0]),
      ppc_keywords: 'odd \ud800',
    } as (typeof calls)[0];
    return `column ppc_keywords in call ${fixtures[3]?.sid} has half of a surrogate pair`;
  };

  test.each([
    ['export', '-o', 'calls.csv'],
    ['export', '-o', 'calls.parquet'],
    ['export', '--format', 'csv', '-o', '-'],
    ['list', '--format', 'csv', '--limit', '40'],
  ])('ends %s %s %s with its call, its column and a way out', async (...args) => {
    const said = serveHalf();
    const cwd = stage.folder();
    const { code, stderr } = await stage.quick(args, { cwd, env });
    expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
    expect(stderr).toMatch(/→ --format ndjson writes any value as it is/);
    expect(stderr.includes('--on-bad-record skip')).toBe(args[0] === 'export');
    expect(stderr).not.toMatch(/unexpected|stack|mapCalls/);
  });

  const half = fixtures[3]?.sid ?? '';
  const skip = ['--on-bad-record', 'skip'];
  const sidsIn = (text: string) =>
    text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[0]);

  test.each(['calls.csv', 'calls.csv.gz', 'calls.parquet', '-'])(
    'with --on-bad-record skip, its call is left out of %s and named, and the result is incomplete',
    async (output) => {
      const said = serveHalf();
      const cwd = stage.folder();
      const args = ['export', '-o', output, '--fields', 'sid,ppc_keywords', ...skip];
      const format = output === '-' ? ['--format', 'csv'] : ['--receipt'];
      const { code, stdout, stderr } = await stage.quick([...args, ...format], { cwd, env });
      expect([code, stderr]).toEqual([3, expect.stringContaining(`left out ${half}: ${said}`)]);
      expect(stderr).toMatch(/INCOMPLETE: 39 calls; 1 call .* could not be read/);
      if (output === 'calls.csv')
        expect(sidsIn(readFileSync(join(cwd, output), 'utf8'))).toHaveLength(39);
      if (output === '-') expect(sidsIn(stdout)).not.toContain(half);
      if (output === '-') return;
      const verified = await stage.quick(['verify', output], { cwd, env });
      expect(verified.stdout).toMatch(/39 (?:calls|rows)/);
      expect(verified.code).not.toBe(0);
    },
  );

  test('it is left out of the calls of a condition only where the condition has it', async () => {
    serveHalf();
    const cwd = stage.folder();
    const args = ['export', '-o', 'calls.csv', ...skip, '--where'];
    const others = await stage.quick([...args, `sid != '${half}'`], { cwd, env });
    expect([others.code, others.stderr]).toEqual([
      0,
      expect.not.stringContaining(`left out ${half}`),
    ]);
    const own = await stage.quick([...args, `sid = '${half}'`], { cwd, env });
    expect([own.code, own.stderr]).toEqual([3, expect.stringContaining(`left out ${half}: `)]);
  });

  test('a copy obeys --on-bad-record, too', async () => {
    const said = serveHalf();
    const cwd = stage.folder();
    expect((await syncIn(cwd)).code).toBe(0);
    const from = ['--store', 'sqlite:calls.db', '--include-extensions'];
    const args = ['export', '-o', 'calls.csv', ...from, '--receipt'];
    const stopped = await stage.quick(args, { cwd, env });
    expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringContaining(said)]);
    const skipped = await stage.quick([...args, ...skip], { cwd, env });
    expect([skipped.code, skipped.stderr]).toEqual([
      3,
      expect.stringContaining(`left out ${half}: ${said}`),
    ]);
    expect(skipped.stderr).toMatch(/INCOMPLETE: 39 calls of 40 in the store; 1 call .* left out/);
    expect(sidsIn(readFileSync(join(cwd, 'calls.csv'), 'utf8'))).toHaveLength(39);
    expect((await stage.quick(['verify', 'calls.csv'], { cwd, env })).code).not.toBe(0);
  });

  test('what people read has U+FFFD in its place: a spreadsheet, a report', async () => {
    serveHalf();
    const cwd = stage.folder();
    const args = ['export', '-o', 'calls.csv', '--format', 'spreadsheet', '--receipt'];
    const sheet = await stage.quick(args, { cwd, env });
    expect([sheet.code, readFileSync(join(cwd, 'calls.csv'), 'utf8')]).toEqual([
      0,
      expect.stringContaining('odd \ufffd'),
    ]);
    expect((await stage.quick(['verify', 'calls.csv'], { cwd, env })).code).toBe(0);
    const report = ['report', '--by', 'ppc_keywords', '--format', 'csv', '--from', '2000-01-01'];
    const { code, stdout } = await stage.quick(report, { cwd, env });
    expect([code, stdout]).toEqual([0, expect.stringContaining('odd \ufffd')]);
  });

  test('is kept in JSON, and CSV is written without the field', async () => {
    serveHalf();
    const cwd = stage.folder();
    const json = await stage.quick(['export', '-o', 'calls.ndjson'], { cwd, env });
    const lines = readFileSync(join(cwd, 'calls.ndjson'), 'utf8').trimEnd().split('\n');
    expect([json.code, lines.map((line) => JSON.parse(line).ppc_keywords)]).toEqual([
      0,
      expect.arrayContaining(['odd \ud800']),
    ]);
    const csv = await stage.quick(['export', '-o', 'calls.csv', '--fields', 'sid'], { cwd, env });
    expect([csv.code, readFileSync(join(cwd, 'calls.csv'), 'utf8').split('\r\n').length]).toEqual([
      0, 42,
    ]);
  });
});
