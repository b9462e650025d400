import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type LedgerEntry, openLedger } from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { DatabaseSync as Database } from '@call-attribution/sqlite';
import { openStore } from '@call-attribution/store';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from '../stage.ts';

let stage: OwnStage;
let cwd = '';
beforeAll(async () => {
  stage = await openOwnStage({ records: 300, days: 30 });
});
beforeEach(() => {
  cwd = stage.folder();
});
afterEach(() => stage.sandbox.faults.clear());
afterAll(() => stage.close());

const run = (...args: string[]) => stage.quick(args, { cwd });
const at = (name: string) => join(cwd, name);
const exported = (name: string, ...more: string[]) =>
  run('export', '-o', name, '--receipt', '--include-extensions', ...more);
async function verified(...args: string[]) {
  const { code, stdout, stderr } = await run('verify', ...args, '--json');
  if (stdout === '') throw new Error(stderr);
  const { verdict, checks } = JSON.parse(stdout);
  return {
    code,
    verdict,
    checks,
    codes: checks.flatMap((check: { findings: { code: string }[] }) =>
      check.findings.map(({ code }) => code),
    ),
  };
}
/** The calls of the API. */
const listed = async (): Promise<
  Partial<Record<'sid' | 'date_added' | 'ani' | 'state', string>>[]
> => JSON.parse((await run('list', '--all', '--json', '--include-extensions')).stdout);
const changed = (name: string, change: (text: string) => string) =>
  writeFileSync(at(name), change(readFileSync(at(name), 'utf8')));
/** Drops, doubles or changes lines. */
const inLines = (text: string, change: (lines: string[]) => string[]) =>
  `${change(text.trimEnd().split('\n')).join('\n')}\n`;
const dropped = (text: string) => inLines(text, (lines) => lines.toSpliced(7, 1));

const formats = ['a.ndjson', 'a.ndjson.gz', 'a.json', 'a.csv', 'a.csv.gz', 'a.parquet'];

describe('a file with its receipt', () => {
  test.each(formats)('%s is proved, also against the API', async (name) => {
    expect((await exported(name)).code).toBe(0);
    expect(await verified(name)).toMatchObject({
      code: 0,
      verdict: 'proved',
      checks: [{ path: name, rows: 300 }],
      codes: [],
    });
    expect(await verified(name, '--against-api')).toMatchObject({
      code: 0,
      verdict: 'proved',
      checks: [{ api: [{ proof: 'whole' }] }],
    });
    const { code, stdout } = await run('verify', name);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(`^${name}: proved, 300 calls, as the receipt of `),
    });
  });

  test.each([
    ['--fields', 'sid,date_added,talk_minutes,ani'],
    ['--fields', 'talk_minutes'],
    ['--format', 'spreadsheet'],
  ])('one with %s %s is proved, also against the API', async (...options) => {
    for (const name of formats) {
      if (options[1] === 'spreadsheet' && !name.includes('csv')) continue;
      await exported(name, ...options);
      for (const more of [[], ['--against-api']])
        expect(await verified(name, ...more), `${name} ${more}`).toMatchObject({
          code: 0,
          verdict: 'proved',
        });
    }
  });

  const injuries: [string, string, (text: string) => string, string][] = [
    ['a row is dropped', 'a.ndjson', dropped, 'rows'],
    [
      'a row is doubled',
      'a.ndjson',
      (text) => inLines(text, (lines) => [...lines, lines[7] ?? '']),
      'rows',
    ],
    [
      'a field is changed',
      'a.ndjson',
      (text) => text.replace('"state":"', '"state":"X'),
      'contents',
    ],
    [
      'a row is another one twice',
      'a.ndjson',
      (text) => inLines(text, (lines) => lines.with(3, lines[4] ?? '')),
      'contents',
    ],
    [
      'rows stand in another order',
      'a.ndjson',
      (text) => inLines(text, (lines) => lines.toReversed()),
      'bytes',
    ],
    ['a line is no record', 'a.ndjson', (text) => text.replace('{', '['), 'unreadable'],
    ['it is cut', 'a.ndjson', (text) => text.slice(0, -40), 'unreadable'],
    ['a row is dropped', 'a.csv', dropped, 'rows'],
    ['a column is renamed', 'a.csv', (text) => text.replace('sid,', 'sidd,'), 'contents'],
    ['it is cut', 'a.csv', (text) => text.slice(0, -40), 'bytes'],
    ['it is empty', 'a.csv', () => '', 'rows'],
    ['a row is dropped', 'a.json', dropped, 'rows'],
    ['its end is missing', 'a.json', (text) => text.slice(0, -2), 'unreadable'],
  ];
  test.each(injuries)('%s in %s: it is found', async (_, name, injure, code) => {
    await exported(name);
    changed(name, injure);
    const result = await verified(name);
    expect(result).toMatchObject({ code: 3, verdict: 'differs' });
    expect(result.codes).toContain(code);
  });

  test('a row that is dropped from a compressed file is found, and so is another compression', async () => {
    await exported('a.csv.gz');
    const text = gunzipSync(readFileSync(at('a.csv.gz'))).toString();
    writeFileSync(at('a.csv.gz'), gzipSync(text, { level: 1 }));
    expect((await verified('a.csv.gz')).codes).toEqual(['bytes']);
    writeFileSync(at('a.csv.gz'), gzipSync(inLines(text, (lines) => lines.toSpliced(5, 1))));
    expect((await verified('a.csv.gz')).codes).toEqual(['bytes', 'rows']);
    writeFileSync(at('a.csv.gz'), gzipSync(text).subarray(0, -20));
    expect((await verified('a.csv.gz')).codes.sort()).toEqual(['bytes', 'unreadable']);
  });

  test('a Parquet file that was damaged is found, and is not decoded', async () => {
    await exported('a.parquet');
    const whole = readFileSync(at('a.parquet'));
    for (const place of [0, 200, whole.length >> 1, whole.length - 6]) {
      const bytes = Buffer.from(whole);
      bytes[place] = (bytes[place] ?? 0) ^ 0x40;
      writeFileSync(at('a.parquet'), bytes);
      expect(await verified('a.parquet'), String(place)).toMatchObject({
        code: 3,
        verdict: 'differs',
        codes: ['unreadable', 'bytes'],
      });
    }
  });

  test('the receipt of another file, a changed one, and a receipt without its file are found', async () => {
    await exported('a.csv');
    await exported('b.csv', '--from', '2026-11-01');
    copyFileSync(at('b.csv.receipt.json'), at('a.csv.receipt.json'));
    expect((await verified('a.csv')).codes).toEqual(expect.arrayContaining(['bytes', 'rows']));
    changed('b.csv.receipt.json', (text) =>
      text.replace('"proof": "whole"', '"proof": "unproven"'),
    );
    expect(await verified('b.csv')).toMatchObject({
      code: 3,
      verdict: 'differs',
      codes: ['receipt_invalid'],
    });
    rmSync(at('b.csv'));
    expect(await verified('b.csv')).toMatchObject({
      code: 3,
      verdict: 'differs',
      codes: ['no_file'],
    });
  });

  test('a file whose read was not whole is not proved', async () => {
    stage.sandbox.faults.set('*', 'range=none');
    expect((await exported('a.csv')).code).toBe(3);
    stage.sandbox.faults.clear();
    expect(await verified('a.csv')).toMatchObject({
      code: 3,
      verdict: 'unproven',
      codes: ['not_whole'],
    });
    expect(await verified('a.csv', '--against-api')).toMatchObject({ code: 0, verdict: 'proved' });
  });
});

test('what the API cannot be asked for is not compared with it', async () => {
  await run('sync', '--store', 'sqlite:calls.db');
  const where = ['--store', 'sqlite:calls.db', '--where', "state = 'TX'"];
  expect((await run('export', '-o', 'a.csv', '--receipt', ...where)).code).toBe(0);
  expect(await verified('a.csv')).toMatchObject({ code: 0, verdict: 'proved' });
  expect(await verified('a.csv', '--against-api')).toMatchObject({
    code: 3,
    verdict: 'unproven',
    codes: ['not_comparable'],
  });

  // The same condition, applied to what the API has sent.
  const fromApi = ['--where', "state = 'TX'", '--receipt'];
  expect((await run('export', '-o', 'b.csv', ...fromApi)).code).toBe(0);
  for (const name of ['a.csv', 'b.csv'])
    expect((await run('verify', name, '--against-api')).stdout).toContain(
      'its calls were chosen by a condition (--where), which the API cannot be asked for; export again with the same condition to compare',
    );
});

test('a file without a receipt is counted, and compared with the API in its own period', async () => {
  await run('export', '-o', 'a.ndjson', '--from', '2026-10-10', '--to', '2026-10-20');
  expect(await verified('a.ndjson')).toMatchObject({ code: 0, verdict: 'counted', codes: [] });
  expect((await run('verify', 'a.ndjson')).stdout).toMatch(
    /^a\.ndjson: counted, \d+ calls, no receipt; calls export --receipt writes one\n$/,
  );

  // It has no call through a call extension, so those of the API are not missing.
  expect(await verified('a.ndjson', '--against-api')).toMatchObject({ code: 0, verdict: 'proved' });
  changed('a.ndjson', dropped);
  expect(await verified('a.ndjson', '--against-api')).toMatchObject({ code: 3, codes: ['api'] });
  await run('export', '-o', 'b.ndjson', '--include-extensions');
  changed('b.ndjson', (text) =>
    inLines(text, (lines) =>
      lines.toSpliced(
        lines.findIndex((line) => /Call Extension/.test(line)),
        1,
      ),
    ),
  );
  expect(await verified('b.ndjson', '--against-api')).toMatchObject({ code: 3, codes: ['api'] });
});

test('months are compared with the API together: one that is gone with its receipt is named', async () => {
  const period = ['--from', '2026-09-01', '--to', '2026-11-20'];
  await run('export', '-o', 'x', '--partition', 'month', '--include-extensions', ...period);
  expect(await verified('x', '--against-api')).toMatchObject({ code: 0, verdict: 'proved' });
  const [gone = ''] = readdirSync(at('x/account=101')).sort();
  for (const ending of ['', '.receipt.json']) rmSync(at(`x/account=101/${gone}${ending}`));
  const { stdout } = await run('verify', 'x', '--against-api');
  expect(stdout).toMatch(
    /month=2026-11\.parquet: DIFFERS, 0 calls\n {2}300 calls are missing here, of 2026-10/,
  );
});

describe('a folder of months', () => {
  let months: OwnStage;
  beforeAll(async () => {
    months = await openOwnStage({ records: 300, days: 80 });
  });
  afterAll(() => months.close());

  /** The same against a server with calls of several months. */
  const run = (...args: string[]) => months.quick(args, { cwd });
  const period = ['--from', '2026-09-01', '--to', '2026-10-28'];
  const root = 'x/account=101';
  const monthOf = (month: string) => `${root}/month=${month}.parquet`;

  /** Does something with a month and with its receipt. */
  const withBoth = (work: (ending: string) => void) => ['', '.receipt.json'].forEach(work);
  const move = (from: string, to: string) =>
    withBoth((ending) => renameSync(at(`${from}${ending}`), at(`${to}${ending}`)));
  const copy = (from: string, to: string) =>
    withBoth((ending) => copyFileSync(at(`${from}${ending}`), at(`${to}${ending}`)));

  const injuries: [string, () => void, RegExp][] = [
    [
      'one is gone with its receipt',
      () => withBoth((ending) => rmSync(at(`${monthOf('2026-09')}${ending}`))),
      /^x\/account=101: DIFFERS\n {2}no file is about 2026-09-01 00:00:00 to 2026-10-01 00:00:00, which was asked for/m,
    ],
    [
      'the last one is gone with its receipt',
      () => withBoth((ending) => rmSync(at(`${monthOf('2026-10')}${ending}`))),
      /^ {2}no file is about 2026-10-01 00:00:00 to 2026-10-29 00:00:00/m,
    ],
    [
      'one has another name',
      () => move(monthOf('2026-10'), monthOf('2031-01')),
      /month=2031-01\.parquet: DIFFERS.*\n {2}its receipt is that of month=2026-10\.parquet/,
    ],
    [
      'one is there under another name, too',
      () => copy(monthOf('2026-10'), monthOf('2031-01')),
      /month=2026-10\.parquet: proved[\s\S]*month=2031-01\.parquet: DIFFERS/,
    ],
    [
      'one is there in another folder, too',
      () => {
        mkdirSync(at(`${root}/old`));
        copy(monthOf('2026-09'), `${root}/old/month=2026-09.parquet`);
      },
      /^x\/account=101\/old: DIFFERS\n {2}no file is about 2026-10-01 00:00:00 to 2026-10-29 00:00:00/m,
    ],
    [
      'two are exchanged',
      () => {
        move(monthOf('2026-10'), 'kept');
        move(monthOf('2026-09'), monthOf('2026-10'));
        move('kept', monthOf('2026-09'));
      },
      /month=2026-09\.parquet: DIFFERS[\s\S]*month=2026-10\.parquet: DIFFERS/,
    ],
    [
      'it is that of another account',
      () => renameSync(at(root), at('x/account=102')),
      /its receipt is of account 101/,
    ],
  ];
  test.each(injuries)('%s: it is found', async (_, injure, said) => {
    await run('export', '-o', 'x', '--partition', 'month', ...period);
    expect(await verified('x')).toMatchObject({ code: 0, verdict: 'proved', codes: [] });
    injure();
    expect(await verified('x')).toMatchObject({ code: 3, verdict: 'differs' });
    expect((await run('verify', 'x')).stdout).toMatch(said);
  });

  test('one that is older than the others is found: it ends with what was there then', async () => {
    const earlier = new Date('2026-10-20T12:00:00Z');
    const exporting = ['export', '-o', 'x', '--partition', 'month'];
    await months.quick(exporting, { cwd, now: earlier });
    copy(monthOf('2026-10'), 'kept');
    await run(...exporting);
    expect(await verified('x')).toMatchObject({ code: 0, verdict: 'proved' });
    copy('kept', monthOf('2026-10'));
    expect(await verified('x')).toMatchObject({ code: 3, codes: ['misplaced'] });
    await run(...exporting);
    expect(await verified('x')).toMatchObject({ code: 0, verdict: 'proved' });
  });

  test('exports of other periods into the same folder are proved together', async () => {
    const more = (from: string, to: string) =>
      run('export', '-o', 'x', '--partition', 'month', '--from', from, '--to', to);
    await more('2026-08-20', '2026-08-24');
    await more('2026-10-10', '2026-10-20');
    expect(await verified('x')).toMatchObject({ code: 0, verdict: 'proved', checks: [{}, {}] });
    await more('2026-08-22', '2026-10-12');
    const { verdict, checks } = await verified('x');
    expect([verdict, checks.length]).toEqual(['proved', 3]);
  });
});

describe.skipIf(process.platform === 'win32')('in the place of a receipt', () => {
  const others: [string, (path: string) => void, string][] = [
    ['a pipe', (path) => execFileSync('mkfifo', [path]), 'not a regular file'],
    ['a device', (path) => symlinkSync('/dev/zero', path), 'not a regular file'],
    ['a folder', (path) => mkdirSync(path), 'a folder'],
    [
      'a file of many gigabytes',
      (path) => {
        writeFileSync(path, '');
        truncateSync(path, 8 * 1024 ** 3);
      },
      'larger than 16384 KiB',
    ],
  ];
  test.each(others)('%s is named, and nothing waits for it', async (_, make, problem) => {
    await exported('a.csv');
    rmSync(at('a.csv.receipt.json'));
    make(at('a.csv.receipt.json'));
    const { code, stdout } = await run('verify', 'a.csv');
    expect([code, stdout]).toEqual([
      3,
      expect.stringContaining(`the receipt cannot be used: it is ${problem}`),
    ]);

    await run('export', '-o', 'x', '--partition', 'month');
    const receipt = at('x/account=101/month=2026-10.parquet.receipt.json');
    rmSync(receipt);
    make(receipt);
    const again = await run('export', '-o', 'x', '--partition', 'month');
    if (problem === 'a folder') expect(again).toMatchObject({ code: 7 });
    else expect(await verified('x')).toMatchObject({ code: 0, verdict: 'proved' });
  });
});

test('a folder: each file is named, with what is wrong with it', async () => {
  mkdirSync(at('x/deep'), { recursive: true });
  await exported('x/a.csv');
  await exported('x/deep/b.parquet');
  expect(await verified('x')).toMatchObject({ code: 0, verdict: 'proved' });
  await run('export', '-o', 'x/c.ndjson');
  await exported('x/d.csv', '--from', '2026-11-01');
  renameSync(at('x/d.csv'), at('x/deep/d.csv'));
  writeFileSync(at('x/notes.txt'), 'no records');
  const { code, checks } = await verified('x');
  expect(code).toBe(3);
  expect(
    checks.map(({ path, verdict }: { path: string; verdict: string }) => [path, verdict]),
  ).toEqual([
    ['x/a.csv', 'proved'],
    ['x/c.ndjson', 'unproven'],
    ['x/d.csv', 'differs'],
    ['x/deep/b.parquet', 'proved'],
    ['x/deep/d.csv', 'unproven'],
  ]);
  const { stdout, stderr } = await run('verify', 'x');
  expect(stdout).toMatch(
    /x\/c\.ndjson: UNPROVEN, \d+ calls\n {2}there is no receipt to compare it with\n/,
  );
  expect(stderr).toMatch(/2 of 5 files proved\n.*--against-api compares what has no receipt/);
});

describe('a store in SQLite', () => {
  const file = 'calls.db';
  const store = `sqlite:${file}`;
  const sync = () => run('sync', '--store', store);

  const inAccount = async (command: string, more: readonly string[], input?: string) => {
    const args = ['store', command, '--account', '101', '--store', store, ...more];
    return (await stage.quick(args, { cwd, ...(input === undefined ? {} : { input }) })).stdout;
  };

  test('right after its sync it is proved, also against the API', async () => {
    expect((await sync()).code).toBe(0);
    for (const path of [store, file])
      expect(await verified(path)).toMatchObject({
        code: 0,
        verdict: 'proved',
        checks: [{ path, rows: 300, stored: { account: '101' } }],
        codes: [],
      });

    const compared = await verified(store, '--against-api');
    expect(compared).toMatchObject({
      code: 0,
      verdict: 'proved',
      checks: [{ api: [{ calls: 300, proof: 'whole' }] }],
    });
    const part = await verified(
      store,
      '--against-api',
      '--from',
      '2026-11-01',
      '--to',
      '2026-11-07',
    );
    expect(part).toMatchObject({ code: 0, verdict: 'proved' });
    expect(part.checks[0].rows).toBeLessThan(300);
    expect(part.checks[0].rows).toBe(part.checks[0].api[0].calls);
  });

  test('without an account nothing is proved', async () => {
    await (await openStore(`sqlite:${at(file)}`)).close();
    expect(await verified(store)).toMatchObject({
      code: 3,
      verdict: 'unproven',
      codes: ['not_whole'],
    });
  });

  test('of a part of the calls, the part that its syncs were asked for is compared', async () => {
    await run('sync', '--store', store, '--from', '2026-11-01', '--q', 'talk_minutes:[1 TO *]');
    await run('sync', '--store', store, '--from', '2026-10-25', '--to', '2026-10-28');
    expect(await verified(store, '--against-api')).toMatchObject({ code: 0, verdict: 'proved' });
  });

  test('one that is damaged or empty is named, and left as it is', async () => {
    await sync();
    mkdirSync(at('x'));
    for (const name of readdirSync(cwd))
      if (name.startsWith(file)) renameSync(at(name), at(`x/${name}`));
    expect(await verified('x')).toMatchObject({ code: 0, verdict: 'proved' });
    for (const name of readdirSync(at('x')))
      if (name.endsWith('-wal') || name.endsWith('-shm')) rmSync(at(`x/${name}`));
    writeFileSync(at(`x/${file}`), readFileSync(at(`x/${file}`)).subarray(0, 20_000));
    expect(await verified('x')).toMatchObject({ code: 3, verdict: 'differs' });
    writeFileSync(at(`x/${file}`), '');
    expect(await verified('x')).toMatchObject({ code: 3, verdict: 'differs' });
    expect(readFileSync(at(`x/${file}`))).toHaveLength(0);
  });

  test('what the API has no longer, or has in another form, is named with its time', async () => {
    await sync();
    const lines = await listed();
    const gone = lines[40];
    const other = lines[200];

    // The API as it was before: one call less, one more, and one that was changed since.
    const served = lines
      .filter(({ sid }) => sid !== gone?.sid)
      .map((call) => (call.sid === other?.sid ? { ...call, state: 'ZZ' } : call));
    served.push({ ...lines[100], sid: '9999999999999', date_added: '2026-11-10 03:04:05' });
    const { createService } = await import('@call-attribution/service');
    const backing = await openStore(`sqlite:${at('other.db')}`);
    await backing.putAccount({ id: '101', name: 'Main' });
    await backing.upsert('101', served as unknown as Call[]);
    await backing.putCredential('101', {
      kind: 'keys',
      accessKey: stage.env.CALLS_ACCESS_KEY ?? '',
      secretKey: stage.env.CALLS_SECRET_KEY ?? '',
    });
    const service = createService({ store: backing });
    const { url } = await service.listen({ port: 0 });
    try {
      const result = await stage.quick(['verify', store, '--against-api', '--json'], {
        cwd,
        env: { CALLS_BASE_URL: url },
      });
      expect(result.code).toBe(3);
      const { checks } = JSON.parse(result.stdout);
      const differences = checks[0].findings.flatMap(
        ({ difference }: { difference?: object }) => difference ?? [],
      );
      expect(differences).toEqual(
        expect.arrayContaining([
          {
            kind: 'extra',
            calls: 1,
            from: gone?.date_added,
            to: gone?.date_added,
            sids: [gone?.sid],
          },
          {
            kind: 'changed',
            calls: 1,
            from: other?.date_added,
            to: other?.date_added,
            sids: [other?.sid],
          },
          {
            kind: 'missing',
            calls: 1,
            from: '2026-11-10 03:04:05',
            to: '2026-11-10 03:04:05',
            sids: ['9999999999999'],
          },
        ]),
      );
      expect(differences).toHaveLength(3);
    } finally {
      await service.close();
      await backing.close();
    }
  });

  test('rows that are gone or changed behind its back are found', async () => {
    await sync();
    const database = new Database(at('calls.db'));
    database.exec(
      'DELETE FROM records WHERE sid IN (SELECT sid FROM records ORDER BY date_added LIMIT 5)',
    );
    database.close();
    expect(await verified(store)).toMatchObject({ code: 3, codes: ['rows', 'unread'] });
    const { code, stdout } = await run('verify', store, '--against-api');
    expect(code).toBe(3);
    expect(stdout).toMatch(
      /5 calls are missing here, of 20.*\n {2}the next calls sync or calls fleet work reads/,
    );
    expect((await run('count', '--store', store)).stderr).toMatch(/INCOMPLETE.* were not read/);
    expect(await run('sync', '--store', store)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(' 5 new, '),
    });
    expect(await verified(store, '--against-api')).toMatchObject({ code: 0, verdict: 'proved' });
  });

  /** Changes a database behind the back of the store. */
  const behindItsBack = (...statements: string[]) => {
    const database = new Database(at('calls.db'));
    for (const sql of statements) database.exec(sql);
    database.close();
  };

  test.each([
    ['an erasure', async (ani: string) => inAccount('erase', [], `${ani}\n`)],
    ['a purge', async () => inAccount('purge', ['--before', '2026-10-05', '--yes'])],
  ])(
    'rows that are gone after %s are found, and so are rows that nobody has written',
    async (_, remove) => {
      await sync();
      await remove((await listed())[250]?.ani ?? '');
      expect(await verified(store)).toMatchObject({ code: 0, verdict: 'proved', codes: [] });
      const before = (await verified(store)).checks[0].rows;
      behindItsBack('DELETE FROM records WHERE rowid IN (SELECT rowid FROM records LIMIT 3)');
      expect(await verified(store)).toMatchObject({
        code: 3,
        verdict: 'differs',
        codes: ['rows', 'unread'],
      });
      await sync();
      expect(await verified(store)).toMatchObject({ code: 0, checks: [{ rows: before }] });
      expect(await verified(store, '--against-api')).toMatchObject({ code: 0, verdict: 'proved' });
      behindItsBack(
        'CREATE TABLE one AS SELECT * FROM records LIMIT 1',
        "UPDATE one SET sid = 'another'",
        'INSERT INTO records SELECT * FROM one',
        'DROP TABLE one',
      );
      for (let again = 0; again < 2; again += 1)
        expect(await verified(store)).toMatchObject({ code: 3, codes: ['rows'] });
    },
  );

  test('an erasure that was interrupted is said, and the next sync finishes it', async () => {
    await sync();
    const [{ ani = '', sid = '' } = {}] = await listed();
    const ledger = await openLedger(at('uploads.ledger'));
    const entry = (of: string): LedgerEntry => ({
      action: 'add',
      key: of,
      sid: of,
      account: '101',
      click: { kind: 'gclid', id: `click-of-${of}` },
      at: 0,
      name: 'Lead',
      value: 1,
      currency: 'USD',
    });
    await ledger.commit(await ledger.prepare('google-ads-clicks', [entry(sid), entry('stays')]), {
      except: [sid],
    });
    await ledger.close();

    // As by a process that is killed before the first call goes.
    behindItsBack(
      "CREATE TRIGGER keeper BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'kept'); END",
    );
    const erase = ['store', 'erase', '--account', '101', '--store', store];
    const { code } = await stage.quick([...erase, '--ledger', 'uploads.ledger'], {
      cwd,
      input: `${ani}\n`,
    });
    expect(code).not.toBe(0);
    behindItsBack('DROP TRIGGER keeper');
    expect(readFileSync(at('uploads.ledger'), 'utf8')).not.toContain(sid);
    expect(readFileSync(at('uploads.ledger'), 'utf8')).toContain('click-of-stays');
    const found = await run('verify', store);
    expect(found).toMatchObject({ code: 3 });
    expect(found.stdout).toMatch(
      /\d+ calls? of erased callers, or from before the purge, (?:is|are) still here, because that was interrupted: the next calls sync deletes them/,
    );
    expect(await sync()).toMatchObject({ code: 0 });
    expect(await verified(store)).toMatchObject({ code: 0, verdict: 'proved' });
    expect((await run('get', sid, '--store', store)).code).toBe(6);
  });

  test('erased callers and purged calls count apart, never as missing', async () => {
    await sync();
    const ani = (await listed())[250]?.ani ?? '';
    const { erased } = JSON.parse(await inAccount('erase', [], `${ani}\n`));
    const { purged } = JSON.parse(
      await inAccount('purge', ['--before', '2026-11-01 00:00:00', '--yes']),
    );
    const result = await verified(store, '--against-api');
    expect(result).toMatchObject({
      code: 0,
      verdict: 'proved',
      checks: [{ rows: 300 - erased - purged, api: [{ erased: expect.any(Number), purged }] }],
    });
    expect(result.checks[0].api[0].erased).toBeGreaterThanOrEqual(erased);
    expect(result.checks[0]).toMatchObject({
      stored: { erasedCallers: 1, purgedBefore: '2026-11-01 00:00:00' },
    });
    const shown = await run('verify', store, '--against-api');
    expect(shown.stdout).toMatch(/1 caller was erased/);
    expect(shown.stdout).not.toContain(ani);
  });
});

describe('what cannot be verified', () => {
  test.each<[string[], RegExp]>([
    [['nothing.csv'], /there is no file or folder nothing\.csv/],
    [['sqlite:nothing.db'], /there is no store sqlite:nothing\.db/],
    [['a.txt'], /the name does not say a format/],
    [['.'], /has no files of records/],
    [['sqlite:calls.db', '--account', '999'], /has no account 999/],
    [[], /path|needs a file/],
  ])('%j', async (args, message) => {
    if (args[0] === 'a.txt') appendFileSync(at('a.txt'), 'x');
    if (args[0] === 'sqlite:calls.db') await run('sync', '--store', 'sqlite:calls.db');
    const { code, stderr } = await run('verify', ...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
