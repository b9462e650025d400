import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readOnlyUri } from '../../src/database/sqlite.ts';
import { loadSqlite } from '../../src/database/sqlite-driver.ts';
import type { SqlCell } from '../../src/database/sqlite-process.ts';
import { startProcess } from '../../src/database/sqlite-sql.ts';
import { querySql } from '../../src/index.ts';
import { openAt, runOn, smallCall } from '../small-calls.ts';

const tally = openDrill({
  name: 'sql',
  kind: 'hostile clients',
  what: 'Every function, module and pragma of the linked SQLite is asked for a file, plainly, in quotes and through a view; no file is read, written or changed. A process that is killed leaves none that runs its statement',
});

const secret = 'what only the owner of this file may know';
const folder = mkdtempSync(join(tmpdir(), 'store-sql-'));
const file = join(folder, 'calls.db');
const url = `sqlite:${file}`;
const target = join(folder, 'secret.txt');
const outside = join(folder, 'outside');
beforeAll(async () => {
  writeFileSync(target, secret);
  mkdirSync(outside);
  const store = await openAt(url);
  await store.upsert('101', [smallCall('a', '2026-01-01 00:00:00', '1.0')]);
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** One process answers all of them, as it answers one statement of `querySql`. */
const answering = startProcess();
afterAll(() => answering.child.kill('SIGKILL'));

async function rowsOf(sql: string): Promise<SqlCell[][]> {
  const { source } = await loadSqlite();
  const said = await answering.ask({
    source,
    uri: readOnlyUri(file),
    sql,
    explained: null,
    most: null,
    patience: 1_000,
    batch: 1_000_000,
  });
  if ('failure' in said) throw new Error(said.failure.message);
  const rows = await answering.ask(null);
  return 'rows' in rows ? (rows.rows as SqlCell[][]) : [];
}

const quoted = (text: string) => `'${text}'`;

/**
 * The files in the folder, with what they hold. Whoever reads the store has an empty log and its
 * index beside it.
 */
const everything = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile() && !name.endsWith('-shm'))
    .map((name) => [name, readFileSync(join(folder, name))] as const)
    .filter(([, content]) => content.length > 0)
    .map(([name, content]) => `${name} ${createHash('sha256').update(content).digest('hex')}`)
    .sort();

/** Arguments that a function which takes files could do something with. */
const attempts: readonly (readonly string[])[] = [
  [quoted(target)],
  [quoted(join(outside, 'written.txt'))],
  [quoted(target), quoted('overwritten')],
  [quoted(join(outside, 'written.txt')), quoted('text')],
  [quoted(target), '1', quoted(join(outside, 'written.txt'))],
  [quoted(join(outside, 'written.txt')), quoted('text'), '511', '0'],
];

async function runAll(statements: readonly string[]): Promise<void> {
  for (const sql of statements) {
    const rows = await rowsOf(sql).catch(() => []);
    tally.add({ runs: 1, lied: JSON.stringify(rows).includes(secret) ? 1 : 0 });
  }
}

test('no function, module or pragma reads or writes a file', async () => {
  const before = everything();
  const functions = await rowsOf(
    'SELECT DISTINCT name, narg FROM pragma_function_list ORDER BY 1, 2',
  );
  const calls = functions.flatMap((row) => {
    const [name, narg] = row;
    return attempts
      .filter(({ length }) => Number(narg) < 0 || narg === length)
      .flatMap((list) => [`SELECT "${name}"(${list.join(', ')}) AS x`]);
  });

  // What other programs bring along, whether this one has it or not.
  const known = ['readfile', 'writefile', 'edit', 'load_extension', 'fsdir', 'lsdir', 'zipfile'];
  const more = known.flatMap((name) =>
    attempts.flatMap((list) => [
      `SELECT ${name}(${list.join(', ')}) AS x`,
      `SELECT "${name.toUpperCase()}"(${list.join(', ')}) AS x`,
    ]),
  );
  const modules = (await rowsOf('SELECT name FROM pragma_module_list')).flat();
  const pragmas = (await rowsOf('SELECT name FROM pragma_pragma_list')).flat();
  const tables = [...modules, ...pragmas.map((name) => `pragma_${name}`), ...known].flatMap(
    (name) => [
      `SELECT count(*) AS x FROM "${name}"`,
      ...attempts.map((list) => `SELECT * FROM "${name}"(${list.join(', ')})`),
      `SELECT count(*) AS x FROM "${name}"(1)`,
      `SELECT count(*) AS x FROM "${name}"('delete')`,
    ],
  );
  await runAll(calls);
  await runAll(more);
  await runAll(tables);
  tally.happened('functions', functions.length);
  tally.happened('modules', modules.length);
  tally.happened('pragmas', pragmas.length);
  expect(everything()).toEqual(before);
  expect(functions.length).toBeGreaterThan(100);
  expect(pragmas.length).toBeGreaterThan(30);
});

test('a view that somebody put into the store does not get them either', async () => {
  for (const name of ['readfile', 'writefile', 'load_extension'])
    for (const list of attempts) {
      await runOn(
        url,
        'DROP VIEW IF EXISTS sneaky',
        `CREATE VIEW sneaky AS SELECT ${name}(${list.join(', ')}) AS x`,
      );
      const before = everything();
      await tally.run(async () => {
        await expect(rowsOf('SELECT * FROM sneaky')).rejects.toThrow(
          /no such function|not authorized|unsafe use|wrong number/,
        );
      });
      expect(everything()).toEqual(before);
    }

  await expect(querySql(url, 'SELECT * FROM sneaky')).rejects.toMatchObject({
    code: 'invalid_sql',
  });
});

test.skipIf(process.platform !== 'linux')(
  'a program that is killed leaves no process that runs its statement',
  async () => {
    const program = await builtFile(new URL('../fixtures/endless-sql.ts', import.meta.url).href);
    for (let round = 0; round < rounds(3, 20); round += 1)
      await tally.run(async () => {
        const child = spawn(process.execPath, [program, url], { stdio: 'inherit' });
        const children = () =>
          readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
        await expect.poll(children).not.toBe('');
        const running = children();
        await sleep(100 * round);
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
        tally.happened('kills');
        await expect.poll(() => existsSync(`/proc/${running}`)).toBe(false);
      });
  },
);
