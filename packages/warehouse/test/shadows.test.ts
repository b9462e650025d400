import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gateOf } from '../src/file/gate.ts';
import { type Mode, memorySession } from '../src/file/instance.ts';
import type { Session } from '../src/file/session.ts';
import { openWarehouse } from '../src/index.ts';
import { viewDigest } from '../src/tables/schema.ts';
import { call, cleanUp, rowsOf, temporaryFolder } from './support.ts';

afterAll(cleanUp);

let bytes: Buffer;
beforeAll(async () => {
  const path = join(temporaryFolder(), 'calls.duckdb');
  const warehouse = await openWarehouse(path);
  await warehouse.load('main', [call('a')]);
  await warehouse.close();
  bytes = readFileSync(path);
});

/** A warehouse with one call, that somebody has changed past the package. */
async function changed(statements: readonly string[], name = 'calls.duckdb'): Promise<string> {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, bytes);
  const db = await DuckDBInstance.create(path);
  const connection = await db.connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
  db.closeSync();
  return path;
}

describe('a file that defines anew what statements use is refused, with the names', () => {
  test.each<[string, string[], string]>([
    [
      'a macro that reads a file',
      ["CREATE MACRO concat(a, b, c) AS (SELECT content FROM read_text('secret.txt'))"],
      'macro concat',
    ],
    ['an operator', ['CREATE MACRO "||"(a, b) AS a'], 'macro ||'],
    ['another case', ['CREATE MACRO "COUNT"(a) AS 5'], 'macro COUNT'],
    ['a table macro', ['CREATE MACRO read_csv(a) AS TABLE SELECT 1'], 'macro read_csv'],
    [
      'the list of functions itself',
      [
        'CREATE MACRO duckdb_functions() AS TABLE SELECT 1 AS function_name',
        'CREATE MACRO "="(a, b) AS false',
      ],
      'macro duckdb_functions',
    ],
    ['a macro in another schema', ['CREATE SCHEMA s', 'CREATE MACRO s.max(a) AS 1'], 'macro max'],
    ['a type', ["CREATE TYPE json AS ENUM ('a')"], 'type json'],
    ['a view in place of a table', ['DROP TABLE erased', 'CREATE VIEW erased AS SELECT 1'], 'view erased'],
    ['a table in place of the view', ['DROP VIEW calls', 'CREATE TABLE calls (a INTEGER)'], 'table calls'],
    ['a sequence', ['CREATE SEQUENCE "calls"'], 'sequence calls'],
  ])('%s', async (_, statements, said) => {
    const path = await changed(statements);
    await expect(openWarehouse(path)).rejects.toMatchObject({
      code: 'not_a_warehouse',
      message: expect.stringContaining('stand in for those of DuckDB or of a warehouse: '),
    });
    await expect(openWarehouse(path)).rejects.toThrow(said);
  });
});

test('names that nothing else has are nobody else\u2019s business', async () => {
  const path = await changed([
    'CREATE MACRO margin(a, b) AS a - b',
    "CREATE TYPE mood AS ENUM ('a')",
    'CREATE VIEW mine AS SELECT sid FROM calls',
    'CREATE TABLE notes (a mood)',
    'CREATE SEQUENCE numbers_of_mine',
  ]);
  await using warehouse = await openWarehouse(path);
  expect(await rowsOf(warehouse, 'SELECT sid, margin(3, 1) AS m FROM mine')).toEqual([{ sid: 'a', m: 2 }]);
});

describe('the view for people', () => {
  test('has the hash that opening a file compares', async () => {
    await using warehouse = await openWarehouse(await changed([]));
    const [row] = await rowsOf(warehouse, "SELECT sql FROM duckdb_views() WHERE view_name = 'calls'");
    expect(createHash('sha256').update(String(row?.sql)).digest('base64')).toBe(viewDigest);
  });

  test.each([
    ['changed', ["CREATE OR REPLACE VIEW calls AS SELECT 'b' AS sid"]],
    ['missing', ['DROP VIEW calls']],
    ['in another schema', ['DROP VIEW calls', 'CREATE SCHEMA s', "CREATE VIEW s.calls AS SELECT 'b' AS sid"]],
  ])('is made again where it is %s', async (_, statements) => {
    await using warehouse = await openWarehouse(await changed(statements));
    expect(await rowsOf(warehouse, 'SELECT sid, missed FROM calls')).toMatchObject([{ sid: 'a' }]);
  });
});

describe('a file that is not as it should be says so in one sentence', () => {
  test.each<[string, string[], string]>([
    ['no version', ['DELETE FROM meta'], 'it has no version'],
    ['a version in words', ['ALTER TABLE meta ALTER version TYPE VARCHAR'], 'it has no version'],
    [
      'a column of another type',
      ["CREATE TYPE mood AS ENUM ('a')", 'ALTER TABLE records ALTER sid TYPE mood'],
      'records.sid has another type than VARCHAR',
    ],
    [
      'tables in another schema',
      ['DROP VIEW calls', 'CREATE SCHEMA s', 'CREATE TABLE s.records AS FROM records', 'DROP TABLE records'],
      'is a DuckDB file but not a warehouse of calls',
    ],
  ])('%s', async (_, statements, said) => {
    await expect(openWarehouse(await changed(statements))).rejects.toMatchObject({
      code: 'not_a_warehouse',
      message: expect.stringContaining(said),
    });
  });

  test.each([
    ['other', "'7'"],
    ['wire', "'secret of a caller'"],
    ['wire', "'!nothing'"],
  ])('a call whose %s is %s is not quoted', async (column, value) => {
    const path = await changed([`UPDATE records SET ${column} = ${value}`]);
    await using warehouse = await openWarehouse(path);
    const message =
      'A stored call cannot be read: something else than this package has written its columns `other` or `wire`.';
    await expect(warehouse.get('a')).rejects.toMatchObject({ code: 'damaged', message });
  });

  test('a state of a sync that is no JSON is not quoted', async () => {
    const path = await changed([
      "INSERT INTO sync_state VALUES ('main', '{\"secret', now()::TIMESTAMP, NULL)",
    ]);
    await using warehouse = await openWarehouse(path);
    await expect(warehouse.sink('main').load()).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(/^What the syncs of the account main have noted is damaged: [^"]*$/),
    });
  });
});

describe('no session reaches more than the files in use', () => {
  const opening = { memory: '200MB', threads: 1, wait: 1_000 };
  const places = () => {
    const folder = temporaryFolder();
    const path = join(folder, 'calls.duckdb');
    writeFileSync(path, bytes);
    mkdirSync(`${path}.staged`);
    // Names that have to be quoted in a list of DuckDB.
    const used = join(folder, `it's [a], \\"folder"`);
    mkdirSync(used);
    writeFileSync(join(folder, 'secret.txt'), 'secret');
    symlinkSync('../secret.txt', join(used, 'link.txt'));
    for (const place of [used, `${path}.staged`]) writeFileSync(join(place, 'ours.txt'), 'ours');
    return { folder, path, used };
  };
  const sql = (path: string) => `'${path.replaceAll("'", "''")}'`;
  const sessions: Record<
    string,
    (at: ReturnType<typeof places>, body: (session: Session) => Promise<void>) => Promise<void>
  > = {
    ...Object.fromEntries(
      (['ask', 'export', 'write'] as Mode[]).map((mode) => [
        mode,
        ({ path, used }, body) => gateOf(path).use(mode, { ...opening, reach: { folders: [used] } }, body),
      ]),
    ),
    'of files': async ({ path, used }, body) => {
      const session = await memorySession(path, { ...opening, reach: { files: [join(used, 'ours.txt')] } });
      await body(session).finally(() => session.close());
    },
  };

  test.each(Object.keys(sessions))('%s', async (name) => {
    const at = places();
    const before = readdirSync(at.folder);
    await sessions[name]?.(at, async (session) => {
      const read = (path: string) => session.all(`SELECT content FROM read_text(${sql(path)})`);
      const ours = read(join(at.used, 'ours.txt'));
      if (name === 'ask') await expect(ours).rejects.toThrow('disabled by configuration');
      else expect(await ours).toEqual([{ content: 'ours' }]);
      for (const statement of [
        `SELECT content FROM read_text(${sql(join(at.folder, 'secret.txt'))})`,
        `SELECT content FROM read_text(${sql(join(at.used, 'link.txt'))})`,
        `SELECT content FROM read_text(${sql(join(at.used, '..', 'secret.txt'))})`,
        `SELECT * FROM glob(${sql(join(at.folder, '*'))})`,
        `SELECT * FROM read_csv('/etc/passwd')`,
        `COPY (SELECT 1) TO ${sql(join(at.folder, 'out.csv'))}`,
        `ATTACH ${sql(join(at.folder, 'new.duckdb'))}`,
        'INSTALL httpfs',
        'LOAD httpfs',
        'SET enable_external_access = true',
        "SET allowed_directories = ['/']",
        "SET temp_directory = '/tmp'",
        'SET lock_configuration = false',
        'RESET lock_configuration',
      ])
        await expect(session.run(statement), statement).rejects.toThrow();
    });
    expect(readdirSync(at.folder).filter((entry) => !before.includes(entry))).toEqual([]);
  });
});
