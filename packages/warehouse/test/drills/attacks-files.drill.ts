import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWarehouse, type Warehouse, WarehouseError } from '../../src/index.ts';
import { call, cleanUp, storedCalls, temporaryFolder } from '../support.ts';

const tally = openDrill({
  name: 'attacks-files',
  kind: 'hostile clients',
  what: 'Parquet files, databases and lists of an export are damaged, cut and made to deceive; each is read whole or refused in one sentence, no call changes, nothing outside is read, written or removed, and the process goes on',
});

let folder: string;
let warehouse: Warehouse;
let parquet: Buffer;
let database: Buffer;
beforeAll(async () => {
  folder = temporaryFolder();
  writeFileSync(join(folder, 'secret.txt'), 'canary');
  const path = join(folder, 'calls.duckdb');
  warehouse = await openWarehouse(path);
  await warehouse.load(
    'main',
    Array.from({ length: 400 }, (_, i) => call(`S${i}`, { more: `${i * 7919}` })),
  );
  const { files } = await warehouse.exportParquet(join(folder, 'own'));
  parquet = readFileSync(join(folder, 'own', files[0]?.path ?? ''));
  database = readFileSync(path);
});
afterAll(async () => {
  await warehouse.close();
  await cleanUp();
});

/** Numbers from 0 to `below` - 1 that are the same in each run. */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_507) + 0x9e3779b9) >>> 0;
    return state % below;
  };
}

/** A file with some bytes changed, at its end more than elsewhere, or cut. */
function damaged(bytes: Buffer, seed: number): Buffer {
  const next = random(seed);
  if (seed % 10 === 0) return bytes.subarray(0, next(bytes.length));
  const copy = Buffer.from(bytes);
  for (let i = next(6); i >= 0; i -= 1) {
    const at = next(2) === 0 ? next(copy.length) : copy.length - 1 - next(Math.min(2_000, copy.length));
    copy[at] = [0, 0xff, (copy[at] ?? 0) ^ (1 << next(8)), next(256)][next(4)] ?? 0;
  }
  return copy;
}

/** What an attempt has thrown: one sentence of ours, that tells nothing of other files. Null when it has not. */
async function refusal(work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof WarehouseError)) throw error;
    expect(error.message).toMatch(/^[^\n]{10,600}$/);
    expect(error.message).not.toContain('canary');
    return error.code;
  }
}

const seeds = (usual: number, long: number) => Array.from({ length: rounds(usual, long) }, (_, i) => i);

test('damaged Parquet files', async () => {
  const before = (await warehouse.count({ accounts: ['main'] })).calls;
  for (const seed of seeds(40, 2_000))
    await tally.run(async () => {
      const path = join(mkdtempSync(join(folder, 'parquet-')), 'calls.parquet');
      writeFileSync(path, damaged(parquet, seed));
      const code = await refusal(() => warehouse.loadParquet(path, 'other'));
      tally.happened(code === null ? 'loaded' : 'refused');
    });
  expect((await warehouse.count({ accounts: ['main'] })).calls).toBe(before);
});

test('damaged databases', async () => {
  for (const seed of seeds(25, 1_000))
    await tally.run(async () => {
      const path = join(mkdtempSync(join(folder, 'database-')), 'calls.duckdb');
      writeFileSync(path, damaged(database, seed));
      const code = await refusal(async () => {
        await using opened = await openWarehouse(path);
        await storedCalls(opened);
        await opened.count();
      });
      tally.happened(code === null ? 'read' : 'refused');
    });
});

describe('databases that were made to deceive', () => {
  const secret = () => `(SELECT content FROM read_text('${join(folder, 'secret.txt')}'))`;
  test.each<[string, () => string[], boolean]>([
    ['concat', () => [`CREATE MACRO concat(a, b, c) AS ${secret()}`], false],
    [
      'strftime and count',
      () => [`CREATE MACRO strftime(a, b) AS ${secret()}`, 'CREATE MACRO count(a) AS 7'],
      false,
    ],
    ['epoch_us', () => [`CREATE MACRO epoch_us(a) AS ${secret()}`], false],
    ['operators', () => ['CREATE MACRO "+"(a, b) AS 7', 'CREATE MACRO "||"(a, b) AS \'x\''], false],
    [
      'the catalog',
      () => [
        'CREATE MACRO duckdb_tables() AS TABLE SELECT 1',
        'CREATE MACRO duckdb_views() AS TABLE SELECT 1',
      ],
      false,
    ],
    ['a type', () => ["CREATE TYPE json AS ENUM ('a')"], false],
    [
      'the view of the calls',
      () => [
        `CREATE OR REPLACE VIEW calls AS SELECT content AS sid FROM read_text('${join(folder, 'secret.txt')}')`,
      ],
      true,
    ],
    [
      'a view of the accounts',
      () => ['DROP TABLE accounts', "CREATE VIEW accounts AS SELECT 'x' AS account"],
      false,
    ],
    ['a generated column', () => ['ALTER TABLE records ADD COLUMN extra VARCHAR'], false],
    ['an account that is a path', () => ["UPDATE records SET account = '../../up'"], true],
    ['a huge sequence', () => ['CREATE SEQUENCE records_of_mine START 9223372036854775807'], true],
  ])('%s', async (_, statements, opens) => {
    const path = join(mkdtempSync(join(folder, 'hostile-')), 'calls.duckdb');
    writeFileSync(path, database);
    const db = await DuckDBInstance.create(path);
    const connection = await db.connect();
    for (const statement of statements()) await connection.run(statement);
    connection.closeSync();
    db.closeSync();
    await tally.run(async () => {
      const top = join(path, '..', 'deep');
      mkdirSync(top);
      const out = join(top, 'out');
      const code = await refusal(async () => {
        await using opened = await openWarehouse(path);
        expect(opens).toBe(true);
        expect(JSON.stringify(await opened.analyze({ groupBy: ['day'] }))).not.toContain('canary');
        for await (const row of await opened.query('SELECT * FROM calls'))
          expect(JSON.stringify(row)).not.toContain('canary');
        await opened.exportParquet(out);
      });
      if (!opens) expect(code).not.toBeNull();
      expect(readdirSync(top).filter((name) => name !== 'out')).toEqual([]);
      const written = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      for (const { parentPath, name } of written)
        expect(readFileSync(join(parentPath, name)).includes('canary'), name).toBe(false);
      tally.happened(code === null ? 'read' : 'refused');
    });
  });
});

test('lists of an export', async () => {
  const out = join(folder, 'shared');
  await warehouse.exportParquet(out);
  const list = join(out, '_calls.json');
  const text = readFileSync(list, 'utf8');
  const victim = join(folder, 'victim');
  writeFileSync(victim, 'precious');
  const strange = [
    '../victim',
    '/etc/hostname',
    'account=../month=2026-10/part-0.parquet',
    '_calls.lock',
    '.',
    '',
  ];
  for (const [seed, name] of [...strange, ...seeds(12, 500).map(String)].entries())
    await tally.run(async () => {
      const { files, ...rest } = JSON.parse(text);
      const entry = { calls: 1, bytes: 1, stamp: '' };
      const isFuzzed = seed >= strange.length;
      writeFileSync(
        list,
        isFuzzed
          ? damaged(Buffer.from(text), seed)
          : JSON.stringify({ ...rest, files: { ...files, [name]: entry } }),
      );
      const code = await refusal(() => warehouse.exportParquet(out));
      if (!isFuzzed) expect(code).toBe('invalid_dataset');
      expect(readFileSync(victim, 'utf8')).toBe('precious');
      tally.happened(code === null ? 'exported' : 'refused');
    });
});
