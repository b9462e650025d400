import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Finished, type RunOptions, runNode } from '../program.ts';
import { openStage } from '../stage.ts';

// DuckDB cannot interrupt one call of a function, and does not count its memory.

openDrill({
  name: 'long-statements',
  kind: 'stops',
  what: 'calls sql ends within seconds of its time limit, of Ctrl-C and of its memory limit, also while DuckDB is at work on one call of a function',
  countTests: true,
});

const stage = openStage();
const folder = stage.folder();
const sql = (statement: string, args: readonly string[] = [], options: RunOptions = {}): Promise<Finished> =>
  runNode([stage.bin, 'sql', statement, '--store', 'duckdb:calls.duckdb', ...args], {
    cwd: folder,
    ...options,
  });

beforeAll(async () => {
  await stage.quick(['sync', '--store', 'duckdb:calls.duckdb'], { cwd: folder });
});
afterAll(() => stage.close());

/** Many minutes of work in one call. Whoever waited for it would not see the end of this test. */
const long = "select levenshtein(repeat('a', 900000), repeat('b', 900000))";
/** The same in a later row, so that others are written before it. */
const longLater = `select i, case when i = 90000 then levenshtein(repeat('a', 800000 + i), repeat('b', 900000)) end from range(100000) t(i)`;
/** What the process could not survive in most places, unless it is ended. */
const large = "select length(repeat(lpad(any_value(sid), 1000, 'x'), 3000000)) from calls";

const killed = { code: null, signal: 'SIGKILL' };

test('at the time limit, with the error and its hint on a pipe', async () => {
  const ended = await sql(long, ['--timeout', '1s']);
  expect(ended).toMatchObject({ ...killed, stdout: '' });
  expect(ended.stderr).toMatch(
    /calls: the question took longer than its time limit[\s\S]*CALLS_TIMEOUT=5m.*\n$/,
  );
});

test('what was written to a pipe is there, and half a file is not', async () => {
  const piped = await sql(longLater, ['--format', 'ndjson', '--timeout', '2s']);
  expect(piped).toMatchObject(killed);
  expect(piped.stdout).toMatch(/^\{"i":0,/);
  expect(piped.stdout.endsWith('}\n')).toBe(true);
  const saved = await sql(longLater, ['-o', 'rows.csv', '--timeout', '2s']);
  expect(saved).toMatchObject(killed);
  expect(readdirSync(folder).filter((name) => name.includes('rows'))).toEqual([]);
});

/** Sends signals once the command says that it reads. */
function whenReading(...signals: readonly NodeJS.Signals[]): NonNullable<RunOptions['watch']> {
  const left = [...signals];
  return async ({ stderr }, child) => {
    if (!stderr.includes('reading the warehouse')) return;
    for (let signal = left.shift(); signal !== undefined; signal = left.shift()) {
      child.kill(signal);
      await delay(200);
    }
  };
}

test.each(['SIGINT', 'SIGTERM'] as const)('at %s', async (signal) => {
  const ended = await sql(long, [], { watch: whenReading(signal) });
  expect(ended).toMatchObject(killed);
  expect(ended.stderr).toMatch(/calls: stopped\n$/);
});

test('at the second Ctrl-C at once', async () => {
  expect(await sql(long, [], { watch: whenReading('SIGINT', 'SIGINT') })).toMatchObject({
    code: null,
    signal: 'SIGINT',
  });
});

test('at the memory limit', async () => {
  const ended = await sql(large);
  expect(ended).toMatchObject({ stdout: '' });
  expect([ended.code, ended.signal]).toBeOneOf([
    [1, null],
    [null, 'SIGKILL'],
  ]);
  expect(ended.stderr).toMatch(/calls: the question needs more memory than a warehouse may use/);
});

test('and the warehouse answers as before', async () => {
  expect(await sql('select count(*) as n from calls', ['--format', 'csv'])).toMatchObject({
    code: 0,
    stdout: 'n\r\n600\r\n',
  });
});
