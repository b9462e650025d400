import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from './stage.ts';

let stage: OwnStage;
let filled = '';
let cwd = '';
beforeAll(async () => {
  stage = await openOwnStage({ records: 120, days: 90 });
  filled = stage.folder();
  await stage.quick(['sync', '--store', 'duckdb:calls.duckdb'], { cwd: filled });
});
beforeEach(() => {
  cwd = stage.folder();
  copyFileSync(join(filled, 'calls.duckdb'), join(cwd, 'calls.duckdb'));
});
afterEach(() => stage.sandbox.faults.clear());
afterAll(() => stage.close());

const at = (name: string) => join(cwd, name);
const run = (...args: string[]) => stage.quick(args, { cwd });
const exported = (...more: string[]) =>
  run(
    ...[
      'export',
      '-o',
      'own',
      '--partition',
      'month',
      '--store',
      'duckdb:calls.duckdb',
      '--include-extensions',
    ],
    ...more,
  );
async function verified(...args: string[]) {
  const { code, stdout, stderr } = await run('verify', ...args, '--json');
  if (stdout === '') throw new Error(stderr);
  const { verdict, checks } = JSON.parse(stdout);
  const findings: { code: string; file?: string }[] = checks.flatMap(
    ({ findings }: { findings: object[] }) => findings,
  );
  return { code, verdict, checks, found: findings.map(({ code, file }) => [code, file]) };
}
const filesIn = (folder: string): string[] =>
  readdirSync(at(folder), { recursive: true, encoding: 'utf8' }).sort();
const parts = ['2026-08', '2026-09', '2026-10'].map((month) => `account=101/month=${month}/part-0.parquet`);
const [first = '', second = '', third = ''] = parts;
const flip = (path: string, place: number): void => {
  const bytes = readFileSync(at(path));
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  writeFileSync(at(path), bytes);
};

/** Writes a part again, with other rows. */
async function rewrite(part: string, select: string): Promise<void> {
  const { DuckDBInstance } = createRequire(join(import.meta.dirname, '../../warehouse/package.json'))(
    '@duckdb/node-api',
  );
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE part AS FROM '${at(`own/${part}`)}'`);
  await connection.run(
    `COPY (${select}) TO '${at(`own/${part}`)}' (FORMAT parquet, COMPRESSION gzip, ROW_GROUP_SIZE 122880)`,
  );
  connection.closeSync();
  instance.closeSync();
}

describe('calls export --partition --receipt', () => {
  test('it writes one receipt that names each file, and calls verify proves the folder', async () => {
    expect((await exported('--receipt')).code).toBe(0);
    const receipt = JSON.parse(readFileSync(at('own/_calls.receipt.json'), 'utf8'));
    expect(receipt).toMatchObject({
      file: 'own',
      source: 'duckdb:calls.duckdb',
      accounts: ['101'],
      filter: 'inc_gce:1',
      verdict: { proof: 'whole', proved: 120 },
      rows: { format: 'dataset', count: 120 },
    });
    expect(receipt.files.map(({ path }: { path: string }) => path)).toEqual(parts);
    for (const path of ['own', 'own/', '.'])
      expect(await verified(path)).toMatchObject({
        code: path === '.' ? 3 : 0,
        checks: expect.arrayContaining([
          expect.objectContaining({ verdict: 'proved', rows: 120, findings: [] }),
        ]),
      });
    expect((await run('verify', 'own')).stdout).toMatch(
      /^own: proved, 120 calls, as the receipt of \d{4}-\d\d-\d\d says\n$/,
    );
    renameSync(at('own'), at('moved'));
    expect(await verified('moved')).toMatchObject({ code: 0, verdict: 'proved' });
    expect(await verified('moved', '--against-api')).toMatchObject({ code: 3, verdict: 'not compared' });
  });

  test('run again it says the same; without --receipt there is none any more', async () => {
    await exported('--receipt');
    const before = filesIn('own');
    expect((await exported('--receipt')).stderr).toMatch(/120 calls in 3 files \(3 unchanged\)/);
    expect(filesIn('own')).toEqual(before);
    expect(await verified('own')).toMatchObject({ code: 0, verdict: 'proved' });
    await exported();
    expect(filesIn('own')).not.toContain('_calls.receipt.json');
    expect(await verified('own')).toMatchObject({ code: 3, verdict: 'not compared' });
    expect(filesIn('own')).toEqual(before.filter((name) => !name.endsWith('.receipt.json')));
  });

  test('run again it writes a file again that is not as its receipt says', async () => {
    await exported('--receipt');
    flip(`own/${second}`, 300);
    expect((await exported('--receipt')).stderr).toMatch(/120 calls in 3 files \(2 unchanged\)/);
    expect(await verified('own')).toMatchObject({ code: 0, verdict: 'proved' });
  });

  test.each([
    ['own', ['--partition', 'month']],
    ['a.csv', []],
  ])('a copy that is not whole: the receipt of %s says so, and is no proof', async (name, options) => {
    stage.sandbox.faults.set('*', 'range=none');
    expect((await run('sync', '--store', 'duckdb:short.duckdb')).code).toBe(3);
    stage.sandbox.faults.clear();
    const { stderr } = await run(
      'export',
      '-o',
      name,
      ...options,
      '--store',
      'duckdb:short.duckdb',
      '--receipt',
    );
    expect(stderr).toMatch(/INCOMPLETE/);
    expect(await verified(name)).toMatchObject({
      code: 3,
      verdict: 'unproven',
      found: [['not_whole', undefined]],
    });
  });
});

describe('a folder with a receipt', () => {
  const injuries: [string, () => unknown, [string, string | undefined][]][] = [
    ['a bit is another', () => flip(`own/${second}`, 500), [['bytes', second]]],
    ['a file is cut', () => truncateSync(at(`own/${second}`), 400), [['bytes', second]]],
    ['a file is empty', () => truncateSync(at(`own/${second}`)), [['bytes', second]]],
    ['a file is gone', () => rmSync(at(`own/${third}`)), [['no_file', third]]],
    [
      'two files are exchanged',
      () => {
        renameSync(at(`own/${first}`), at('x'));
        renameSync(at(`own/${second}`), at(`own/${first}`));
        renameSync(at('x'), at(`own/${second}`));
      },
      [
        ['bytes', first],
        ['bytes', second],
      ],
    ],
    [
      'a file is there twice',
      () => copyFileSync(at(`own/${first}`), at('own/account=101/more.parquet')),
      [['not_in_receipt', 'account=101/more.parquet']],
    ],
    [
      'a row is gone',
      () => rewrite(second, 'FROM part WHERE sid <> (SELECT min(sid) FROM part)'),
      [['bytes', second]],
    ],
    [
      'a row is doubled',
      () => rewrite(second, 'FROM part UNION ALL (FROM part LIMIT 1)'),
      [['bytes', second]],
    ],
    [
      'a field of a row is another',
      () =>
        rewrite(
          second,
          "SELECT * REPLACE (if(sid = (SELECT min(sid) FROM part), 'QQ', state) AS state) FROM part",
        ),
      [['bytes', second]],
    ],
    [
      'the receipt was changed',
      () =>
        writeFileSync(
          at('own/_calls.receipt.json'),
          readFileSync(at('own/_calls.receipt.json'), 'utf8').replace('"proved": 120', '"proved": 121'),
        ),
      [['receipt_invalid', undefined]],
    ],
  ];
  test.each(injuries)('%s: it is found', async (_, injure, expected) => {
    await exported('--receipt');
    await injure();
    const { code, verdict, found } = await verified('own');
    expect({ code, verdict }).toEqual({ code: 3, verdict: 'differs' });
    expect(found.filter(([code]) => code !== 'unreadable')).toEqual(expected);
  });

  test('the receipt of another folder, and that of a file, are found', async () => {
    await exported('--receipt');
    const other = ['--to', '2026-10-01', '--store', 'duckdb:calls.duckdb', '--receipt'];
    await run('export', '-o', 'other', '--partition', 'month', ...other);
    await run('export', '-o', 'a.csv', ...other);
    copyFileSync(at('other/_calls.receipt.json'), at('own/_calls.receipt.json'));
    expect(await verified('own')).toMatchObject({ code: 3, verdict: 'differs' });
    copyFileSync(at('a.csv.receipt.json'), at('own/_calls.receipt.json'));
    // Without a receipt no rows of Parquet are read.
    const { code, found } = await verified('own');
    expect([code, found[0]]).toEqual([3, ['receipt_invalid', undefined]]);
  });
});
