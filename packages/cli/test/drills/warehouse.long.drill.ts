import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openDrill } from '@call-attribution/test-tools/drill';
import { WarehouseError } from '@call-attribution/warehouse';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { explain } from '../../src/failures/explain.ts';
import type { Finished } from '../program.ts';
import { nobody, openStage } from '../stage.ts';

openDrill({
  name: 'warehouse-commands',
  kind: 'whole programs',
  what: 'Each command that reads calls asks the API and a warehouse; the bytes are the same, and each mistake is one clear error',
  countTests: true,
});

const stage = openStage();
const folder = stage.folder();
const store = 'duckdb:calls.duckdb';

/** Runs `calls` where the warehouse is. */
const calls = (args: readonly string[], env: Record<string, string> = {}): Promise<Finished> =>
  stage.quick(args, { cwd: folder, env: { CALLS_BEARER_TOKEN: inject('callsToken'), ...env } });
/** The same question to the API and to the warehouse. */
const both = (...args: string[]): Promise<[Finished, Finished]> =>
  Promise.all([calls(args), calls([...args, '--store', store])]);
const answered =
  /^answered by the warehouse calls.duckdb: 600 calls, the latest of 2026-10-31 [\d:]{8}; last sync 20\d\d-\d\d-\d\d [\d:]{8} UTC$/m;

let synced: Finished;
beforeAll(async () => {
  synced = await calls(['sync', '--store', store]);
});
afterAll(() => stage.close());

describe('a sync into a warehouse', () => {
  test('it reports what is new, and the next one reads only what may have changed', async () => {
    expect(synced).toMatchObject({ code: 0, stdout: '' });
    expect(synced.stderr).toMatch(/^warehouse calls.duckdb, account 101: 600 new, 0 changed, 0 the same/);
    const { code, stdout } = await calls(['sync', '--json'], { CALLS_STORE: store });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ account: '101', new: 0, changed: 0 });
  });

  test('with --every it repeats until it is stopped', async () => {
    const stop = new AbortController();
    const run = stage.quick(
      ['sync', '--store', 'duckdb:every.duckdb', '--every', '10m', '--from', '2026-10-30'],
      {
        cwd: folder,
        signal: stop.signal,
      },
    );
    while (!existsSync(join(folder, 'every.duckdb'))) await setTimeout(20);
    await setTimeout(800);
    stop.abort();
    expect((await run).code).toBeOneOf([0, 130]);
    expect((await calls(['count', '--store', 'duckdb:every.duckdb'])).code).toBe(0);
  });
});

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

describe('questions to a warehouse', () => {
  test.each([
    ['report', '--by', 'campaign,day', '--include-extensions'],
    ['report', '--by', 'day', '--format', 'csv'],
    ['report', '--by', 'hour,channel', '--json', '--include-extensions'],
    ['report', '--by', 'week', '--where', 'talk_minutes >= 2'],
    ['report', '--by', 'month,weekday', '--json'],
    ['report', '--by', 'weekday'],
    ['report', '--by', 'talk_minutes', '-n', '3'],
    ['report', '--by', 'displayed_timestamp', '--format', 'csv'],
    ['report', '--by', 'ani', '-n', '5'],
    ['report', '--by', 'activity_type_id,month', '--period', '2026-09'],
    ['report', '--from', '2027-01-01'],
    ['list', '-n', '7', '--page', '2'],
    ['list', '--all', '--format', 'csv', '--include-extensions'],
    ['list', '--q', 'talk_minutes:[5 TO *]', '--fields', 'sid,date_added', '--format', 'ndjson'],
    ['list', '--from', '2027-01-01'],
    ['count'],
    ['count', '--from', '20d', '--include-extensions'],
    ['count', '--api-version', 'v2', '--period', '2026-10'],
  ])('calls %s %s %s gives the same as the API', async (...args) => {
    const [api, warehouse] = await both(...args);
    expect(warehouse.stdout).toBe(api.stdout);
    expect(warehouse.code).toBe(api.code);
    expect(warehouse.stderr).toMatch(answered);
    // A copy knows how many calls it leaves out or counts without another request.
    const said = linesOf(warehouse.stderr.replace(answered, '')).filter(
      (line) => args[0] !== 'count' || !line.includes('call extensions are'),
    );
    expect(said).toEqual(linesOf(api.stderr));
  });

  test('calls get gives the same call, and says when there is none', async () => {
    const [, sid = ''] = (
      await calls(['list', '-n', '1', '--format', 'csv', '--fields', 'sid'])
    ).stdout.split('\r\n');
    const [api, warehouse] = await both('get', sid, '--json');
    expect(JSON.parse(warehouse.stdout)).toEqual(JSON.parse(api.stdout));
    expect(warehouse.stderr).toMatch(answered);
    const none = await calls(['get', '1', '--store', store]);
    expect(none.code).toBe(6);
    expect(none.stderr).toMatch(/no call with the session ID 1\n.*--store none asks the API/);
  });

  test('a configured warehouse answers without keys, and --store none asks the API all the same', async () => {
    const configured = await calls(['count'], { ...nobody, CALLS_STORE: store });
    expect(configured).toMatchObject({ code: 0, stdout: (await calls(['count'])).stdout });
    expect(configured.stderr).toMatch(answered);
    const config = join(folder, 'sub', '..', 'own.json');
    writeFileSync(config, JSON.stringify({ store }));
    const elsewhere = await stage.quick(['count', '--config', config], { cwd: stage.folder() });
    expect(elsewhere.stderr).toMatch(answered);
    const api = await calls(['count', '--store', 'none'], { CALLS_STORE: store });
    expect(api).toMatchObject({ code: 0, stderr: '', stdout: configured.stdout });
    expect(await calls(['count'], { CALLS_STORE: 'sqlite:calls.db' })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/There is no store sqlite:.*calls.db/),
    });
  });

  test('the page says where its figures are from', async () => {
    const args = ['report', '--by', 'campaign,day', '-o', 'report.html', '--store', store];
    expect((await calls(args)).code).toBe(0);
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toMatch(
      /<p>Answered by the warehouse calls.duckdb: 600 calls, .*UTC\.<\/p>/,
    );
  });

  test('accounts are chosen with --account, and --debug --json counts name the source', async () => {
    const { stdout } = await calls(['count', '--account', '101', '--json', '--store', store]);
    expect(JSON.parse(stdout)).toMatchObject({ source: 'warehouse' });
    const all = await calls(['count', '--all-accounts', '--json', '--store', store]);
    expect(JSON.parse(all.stdout)).toEqual([{ account: '101', ...JSON.parse(stdout) }]);
    const report = await calls([
      'report',
      '--by',
      'account,channel',
      '--measures',
      'calls',
      '--format',
      'csv',
      '--all-accounts',
      '--store',
      store,
    ]);
    expect(report.stdout).toMatch(/^account,channel,calls\r?\n101,/);
    const list = await calls(['list', '--all-accounts', '-n', '1', '--json', '--store', store]);
    expect(JSON.parse(list.stdout)[0]).toMatchObject({ account: '101' });
  });
});

describe('exports from a warehouse', () => {
  test.each(['csv', 'ndjson', 'json', 'csv.gz'])('a .%s file has the same bytes', async (extension) => {
    const api = await calls(['export', '-o', `api.${extension}`, '--include-extensions']);
    const args = ['export', '-o', `own.${extension}`, '--include-extensions', '--store', store];
    const own = await calls(args);
    expect([api.code, own.code]).toEqual([0, 0]);
    expect(own.stderr).toMatch(/complete: 600 calls, all that the warehouse has\n$/);
    const [one, other] = ['api', 'own'].map((name) => readFileSync(join(folder, `${name}.${extension}`)));
    if (!extension.endsWith('json')) expect(other?.equals(one as Buffer)).toBe(true);
    expect(existsSync(join(folder, `own.${extension}.partial`))).toBe(false);
  });

  test('a Parquet file and stdout work as well', async () => {
    expect((await calls(['export', '-o', 'own.parquet', '--store', store])).code).toBe(0);
    const { stdout, code } = await calls(['export', '-o', '-', '--store', store]);
    expect(code).toBe(0);
    const rows = await parquetReadObjects({ file: bufferOf(join(folder, 'own.parquet')) });
    expect(rows).toHaveLength(stdout.trimEnd().split('\n').length);
  });

  test('an upload sheet has the same bytes, and the same calls are left out', async () => {
    const sheet = ['sheet', 'google-ads-clicks', '--conversion-name', 'Lead', '--value', '5'];
    const api = await calls([...sheet, '-o', 'api-sheet.csv']);
    const own = await calls([...sheet, '-o', 'own-sheet.csv', '--store', store]);
    expect(readFileSync(join(folder, 'own-sheet.csv'))).toEqual(readFileSync(join(folder, 'api-sheet.csv')));
    const leftOut = /left out: .*/;
    expect(own.stderr.match(leftOut)?.[0]).toBe(api.stderr.match(leftOut)?.[0]);
  });
});

describe('calls sql', () => {
  const sql = (statement: string, ...args: string[]): Promise<Finished> =>
    calls(['sql', statement, ...args], { CALLS_STORE: store });
  const months =
    'select month, count(*) as calls, sum(talk_minutes) as talk from calls group by all order by 1';

  test('it shows rows as a table, with numbers to the right', async () => {
    const { code, stdout, stderr } = await sql(months);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^month +calls +talk\n2026-08-01 +\d+ +[\d.]+\n/);
    expect(stderr).toMatch(/^3 rows$/m);
    expect(stderr).toMatch(answered);
    const cut = await sql('select sid from calls', '-n', '2');
    expect(cut.stdout.split('\n')).toHaveLength(4);
    expect(cut.stderr).toMatch(/the first 2 rows; there are more\n--limit 20 shows more/);
  });

  test('it writes rows as data, to stdout and to files', async () => {
    const json = JSON.parse((await sql(months, '--json')).stdout);
    expect(json).toHaveLength(3);
    expect(json[0]).toEqual({ month: '2026-08-01', calls: expect.any(Number), talk: expect.any(Number) });
    expect((await sql('select 1 as a, null as b, [1, 2] as c', '--format', 'csv')).stdout).toBe(
      'a,b,c\r\n1,,"[1,2]"\r\n',
    );
    expect((await sql(months, '--format', 'ndjson', '-n', '1')).stdout).toBe(`${JSON.stringify(json[0])}\n`);
    const saved = await sql('select sid, date_added, talk_minutes, missed from calls', '-o', 'some.parquet');
    expect(saved.stderr).toMatch(/^some.parquet: 600 rows$/m);
    const [row] = await parquetReadObjects({ file: bufferOf(join(folder, 'some.parquet')) });
    expect(row).toMatchObject({
      sid: expect.any(String),
      date_added: expect.any(Date),
      talk_minutes: expect.any(Number),
      missed: expect.any(Boolean),
    });
    const input = await stage.quick(['sql', '-', '--format', 'csv', '--store', store], {
      cwd: folder,
      input: 'select 7 as n',
    });
    expect(input.stdout).toBe('n\r\n7\r\n');
  });

  test.each([
    [
      'select ppc_campain from calls',
      /has a mistake: there is no column ppc_campain\n {2}LINE 1: select ppc.*\n {2} +\^\n.*did you mean ppc_campaign\?/,
    ],
    ['selec 1', /syntax error at or near "selec"\n {2}LINE 1: selec 1\n {10}\^/],
    ['select 1; select 2', /One statement at a time/],
    ['', /There is no statement/],
    [
      "from read_csv('/etc/passwd')",
      /was refused.*cannot use the function read_csv in FROM[\s\S]*SQL may only read the warehouse/,
    ],
    ["from 'calls.csv'", /was refused.*disabled by configuration/],
    ['delete from records', /was refused.*must be a SELECT/],
    ['set threads = 9', /was refused.*must be a SELECT/],
    ["call enable_logging(storage='stdout')", /was refused.*must be a SELECT/],
    ["from enable_logging(storage='stdout')", /was refused.*cannot use the function enable_logging/],
  ])('%s is refused with the place of the mistake', async (statement, message) => {
    const { code, stdout, stderr } = await sql(statement);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('it is stopped at its time limit', async () => {
    const { code, stderr } = await sql('select count(*) from range(1000000000000)', '--timeout', '0.2s');
    expect(code).toBe(1);
    expect(stderr).toMatch(/longer than its time limit[\s\S]*CALLS_TIMEOUT=5m/);
  });

  test('it needs a store', async () => {
    const { code, stderr } = await calls(['sql', 'select 1']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/needs a store: --store duckdb:calls.duckdb[\s\S]*CALLS_STORE/);
  });
});

describe('what is wrong with a warehouse is one clear error', () => {
  beforeAll(() => writeFileSync(join(folder, 'text.duckdb'), 'not a database'));

  test.each([
    [
      'a file that does not exist',
      ['count', '--store', 'duckdb:nowhere.duckdb'],
      2,
      /no warehouse at .*nowhere.duckdb/,
    ],
    [
      'a file of another kind',
      ['count', '--store', 'duckdb:text.duckdb'],
      2,
      /text.duckdb is not a DuckDB file/,
    ],
    [
      'a sync into such a file',
      ['sync', '--store', 'duckdb:text.duckdb'],
      2,
      /text.duckdb is not a DuckDB file/,
    ],
    ['a path without duckdb:', ['count', '--store', 'calls.duckdb'], 2, /did you mean duckdb:calls.duckdb/],
    ['a row store that is not there', ['report', '--store', 'sqlite:no.db'], 2, /no store sqlite:.*no.db/],
    [
      'a warehouse in the place of a row store',
      ['store', 'accounts', '--store', store],
      2,
      /needs a row store/,
    ],
    [
      'an unknown account',
      ['count', '--account', '7', '--store', store],
      2,
      /no calls of an account "7"\n.*it has 101/,
    ],
    [
      'an account without a warehouse',
      ['count', '--account', '7'],
      2,
      /no calls.config.json with accounts\n[\s\S]*--store duckdb:/,
    ],
    ['an unknown group', ['report', '--by', 'campain', '--store', store], 2, /Did you mean campaign/],
    [
      'a time zone that does not exist',
      ['report', '--time-zone', 'EST5', '--store', store],
      2,
      /no time zone "EST5"/,
    ],
    ['--resume', ['export', '-o', 'x.csv', '--resume', '--store', store], 2, /one from a copy starts over/],
  ])('%s', async (_, args, code, message) => {
    expect(await calls(args)).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
  });

  test('a file that is not a warehouse keeps its contents', () => {
    expect(readFileSync(join(folder, 'text.duckdb'), 'utf8')).toBe('not a database');
  });

  test.each([
    ['disk_full', 7],
    ['not_writable', 7],
    ['in_use', 8],
    ['memory_limit', 1],
    ['unknown_account', 2],
  ] as const)('%s ends with status %i', async (code, status) => {
    expect(await explain(new WarehouseError(code, 'what happened', { hint: 'what to do' }))).toMatchObject({
      exitCode: status,
    });
  });

  test('a file that another process holds is waited for, and then the process is named', async () => {
    const { pid, end } = await holder(join(folder, 'calls.duckdb'));
    const { code, stderr } = await calls(['count', '--store', store], { CALLS_TIMEOUT: '0.3s' });
    await end();
    expect(code).toBe(8);
    expect(stderr).toContain(`Process ${pid} has`);
    expect((await calls(['count', '--store', store])).code).toBe(0);
  });

  test('a sync that repeats waits for a file that another process holds when it starts, and says so', async () => {
    const { pid, end } = await holder(join(folder, 'calls.duckdb'));
    const stop = new AbortController();
    let probed: Promise<unknown> | undefined;
    const probe = async (url: string) => {
      const answers = ['/healthz', '/readyz'].map(async (path) => {
        const response = await fetch(`${url}${path}`);
        return [response.status, await response.text()];
      });
      return Promise.all(answers).finally(end);
    };
    const run = stage.quick(['sync', '--every', '1s', '--store', store, '--status-port', '0'], {
      cwd: folder,
      signal: stop.signal,
      patience: 50,
      watchErrors(text) {
        const [, url] = /^health and metrics on (\S+)$/m.exec(text) ?? [];
        if (url && text.includes('retrying in 1.0 s')) probed ??= probe(url);
        if (/account 101: 0 new/.test(text)) stop.abort();
      },
    });
    const { code, stderr } = await run;
    expect(code).toBe(0);
    // It is alive meanwhile, and says that there is nothing to serve yet.
    expect(await probed).toEqual([
      [200, 'ok\n'],
      [503, 'no sync has finished yet\n'],
    ]);
    expect(stderr).toMatch(/^waiting for the warehouse calls\.duckdb\n/m);
    expect(stderr).toMatch(
      new RegExp(`^calls: Process ${pid} has .* open\\..* end it; retrying in 1\\.0 s$`, 'm'),
    );
  });

  const toInstall = 'npm install (--global )?@call-attribution/warehouse';
  test.each([
    [
      '@duckdb/node-api',
      `duckdb: needs the package @call-attribution/warehouse; install it with: ${toInstall}`,
    ],
    [
      '@duckdb/node-bindings-',
      'DuckDB needs the package @duckdb/node-bindings-[\\w-]+, which is not installed.\n  → Add it with: npm install .+',
    ],
  ])('without the package %s, one sentence says the command that installs it', async (missing, words) => {
    const preload = join(folder, 'missing.cjs');
    writeFileSync(
      preload,
      `const Module = require('node:module');
      const find = Module._resolveFilename;
      Module._resolveFilename = function (name, ...rest) {
        if (!name.startsWith(${JSON.stringify(missing)}) || name.endsWith('.json')) return find.call(this, name, ...rest);
        throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: 'MODULE_NOT_FOUND' });
      };`,
    );
    const options = { cwd: folder, env: { NODE_OPTIONS: `--require=${preload}` } };
    const asked = await stage.calls(['report', '--store', store], options);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    expect(asked.stderr).toMatch(new RegExp(`^calls: ${words}\n$`));
    expect((await stage.calls(['count'], options)).code).toBe(0);
  });
});

/** Another process that has the file open. */
async function holder(file: string): Promise<{ readonly pid: number | undefined; end(): Promise<void> }> {
  const script = `import('@duckdb/node-api').then(({ DuckDBInstance }) => DuckDBInstance.create(process.argv[1]))
    .then((db) => { globalThis.db = db; console.log('open'); setInterval(() => {}, 1000); })`;
  const child = spawn(process.execPath, ['-e', script, file], {
    cwd: join(import.meta.dirname, '../../../warehouse'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((done) => child.stdout.once('data', done));
  const gone = new Promise((done) => child.once('close', done));
  return {
    pid: child.pid,
    async end() {
      child.kill();
      await gone;
    },
  };
}

function bufferOf(path: string): ArrayBuffer {
  const bytes = readFileSync(path);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}
