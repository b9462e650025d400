import { execFileSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openWarehouse } from '../src/index.ts';
import { call, cleanUp, syncState, temporaryFolder, testWarehouse } from './support.ts';

afterAll(cleanUp);

/** A folder with a file next to the one of an export, and a warehouse with one call. */
async function scene() {
  const { warehouse } = await testWarehouse();
  await warehouse.load('main', [call('a')]);
  const top = temporaryFolder();
  const folder = join(top, 'shared');
  const victim = join(top, 'victim.txt');
  writeFileSync(victim, 'precious');
  const { files } = await warehouse.exportParquet(folder);
  return { warehouse, top, folder, victim, part: join(folder, files[0]?.path ?? '') };
}

describe('a folder of an export that others may write to', () => {
  test.each([
    '../victim.txt',
    'account=main/month=2026-10/../../../victim.txt',
    'account=..%2F..%2Fvictim.txt/month=2026-10/part-0.parquet',
    'account=../month=2026-10/part-0.parquet',
    'account=main/month=2026-10/part-0.parquet/../../../../victim.txt',
    'account=main/month=2026-1/part-0.parquet',
    'notes.txt',
    '/etc/hostname',
  ])('lists %s as a file of an earlier export: nothing is removed', async (name) => {
    const { warehouse, folder, victim, part } = await scene();
    const list = join(folder, '_calls.json');
    const { files, ...rest } = JSON.parse(readFileSync(list, 'utf8'));
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    writeFileSync(
      list,
      JSON.stringify({ ...rest, files: { ...files, [name]: { calls: 1, bytes: 1, stamp: '' } } }),
    );
    await expect(warehouse.exportParquet(folder)).rejects.toMatchObject({
      code: 'invalid_dataset',
      message: `${list} names a file that no export makes. Nothing was changed: export into an empty folder.`,
    });
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('mine');
    expect(existsSync(part)).toBe(true);
  });

  test.each(['{', '[]', 'null', '{"version":1}', '{"version":1,"files":null}'])(
    'has the list %s',
    async (text) => {
      const { warehouse, folder } = await scene();
      writeFileSync(join(folder, '_calls.json'), text);
      await expect(warehouse.exportParquet(folder)).rejects.toMatchObject({
        code: 'invalid_dataset',
        message: expect.stringContaining('is not the list of files of an export'),
      });
    },
  );

  test('has a link that leads out in place of the folder of an account: nothing is written there', async () => {
    const { warehouse, top, folder } = await scene();
    const account = join(folder, 'account=main');
    const elsewhere = join(top, 'elsewhere');
    renameSync(account, elsewhere);
    symlinkSync(elsewhere, account);
    await warehouse.load('main', [call('b')]);
    const before = readFileSync(join(elsewhere, readdirSync(elsewhere)[0] ?? '', 'part-0.parquet'));
    await expect(warehouse.exportParquet(folder)).rejects.toThrow(
      /lies outside of .*since a link leads there/,
    );
    const after = readFileSync(join(elsewhere, readdirSync(elsewhere)[0] ?? '', 'part-0.parquet'));
    expect(after.equals(before)).toBe(true);
  });

  test('has a link at the name of an unfinished file: the link is replaced, not followed', async () => {
    const { warehouse, folder, victim, part } = await scene();
    await warehouse.load('main', [call('b')]);
    symlinkSync(victim, `${part}.partial`);
    const { files } = await warehouse.exportParquet(folder);
    expect(files).toMatchObject([{ isUnchanged: false, calls: 2 }]);
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });
});

test.each([
  'account=..%2F..%2Fup',
  'account=%2e%2e',
  'account=a%1b[2Jb',
  'account=%zz',
  `account=${'a'.repeat(65)}`,
])('a dataset with the folder %s is refused before anything is loaded', async (name) => {
  const { warehouse, part } = await scene();
  const dataset = temporaryFolder();
  const place = join(dataset, name, 'month=2026-10', 'part-0.parquet');
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, readFileSync(part));
  await expect(warehouse.loadParquet(dataset)).rejects.toMatchObject({
    code: 'invalid_dataset',
    message: expect.stringContaining('whose name cannot be that of an account'),
  });
  const { accounts } = await warehouse.count();
  expect(accounts.map(({ account }) => account)).toEqual(['main']);
  expect(await warehouse.loadParquet(dataset, 'named')).toMatchObject([{ account: 'named', stored: 1 }]);
});

describe.runIf(process.platform !== 'win32')('what somebody has put next to a database file', () => {
  test.each([
    ['.wal', 'a link to another file', 'is a link to another place'],
    ['.wal', 'a link to nothing', 'is a link to another place'],
    ['.tmp', 'a link to a folder', 'is a link to another place'],
    ['.tmp', 'a file', 'is not a folder'],
    ['.wal', 'a folder', 'is not a regular file'],
  ])('%s is %s: nothing is opened', async (ending, what, said) => {
    const { warehouse, path } = await testWarehouse();
    await warehouse.load('main', [call('a')]);
    const victim = join(dirname(path), 'victim');
    const companion = `${path}${ending}`;
    if (what.endsWith('folder')) mkdirSync(victim);
    else writeFileSync(victim, 'precious');
    if (what === 'a file' || what === 'a folder') renameSync(victim, companion);
    else symlinkSync(what.endsWith('nothing') ? join(dirname(path), 'nowhere') : victim, companion);
    for (const work of [() => warehouse.count(), () => warehouse.load('main', [call('b')])])
      await expect(work()).rejects.toMatchObject({
        code: 'not_writable',
        message: `${companion} ${said}, and DuckDB would use it. Remove it, or put the warehouse into a folder of your own.`,
      });
    if (what === 'a link to another file') expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(existsSync(join(dirname(path), 'nowhere'))).toBe(false);
    rmSync(companion, { recursive: true });
    expect((await warehouse.count()).calls).toBe(1);
  });

  test.runIf(process.geteuid?.() === 0)('belongs to another user than the file', async () => {
    const { warehouse, path } = await testWarehouse();
    mkdirSync(`${path}.tmp`);
    chownSync(`${path}.tmp`, 65_534, 65_534);
    await expect(warehouse.count()).rejects.toThrow('.tmp belongs to another user, and DuckDB would use it');
    // The owner of the file may have left it.
    chownSync(path, 65_534, 65_534);
    expect((await warehouse.count()).calls).toBe(0);
  });
});

describe.runIf(process.platform !== 'win32')('what somebody has put where calls are staged', () => {
  test.each(['main.lines', 'main.journal', 'main.keys'])(
    'a link at %s is replaced, not followed',
    async (name) => {
      const { warehouse, path } = await testWarehouse();
      const victim = join(dirname(path), 'victim');
      writeFileSync(victim, 'precious');
      mkdirSync(`${path}.staged`, { recursive: true });
      const sink = warehouse.sink('main');
      await sink.load();
      symlinkSync(victim, join(`${path}.staged`, name));
      await sink.commit({ calls: [call('a')], ...syncState(true) });
      expect(readFileSync(victim, 'utf8')).toBe('precious');
      expect((await warehouse.count()).calls).toBe(1);
    },
  );

  test('a folder that is a link takes no calls; questions are answered', async () => {
    const { warehouse, path } = await testWarehouse();
    const elsewhere = temporaryFolder();
    rmSync(`${path}.staged`, { recursive: true, force: true });
    symlinkSync(elsewhere, `${path}.staged`);
    await expect(warehouse.load('main', [call('a')])).rejects.toMatchObject({
      code: 'not_writable',
      message: `${path}.staged is a link to another place, so no calls are staged there. Remove it, or put the warehouse into a folder of your own.`,
    });
    expect(readdirSync(elsewhere)).toEqual([]);
    expect((await warehouse.count()).calls).toBe(0);
  });

  test.runIf(process.geteuid?.() === 0).each(['main.journal', 'main.lines'])(
    'a %s of another user is not stored',
    async (name) => {
      const { warehouse, path } = await testWarehouse();
      const sink = warehouse.sink('main');
      await sink.load();
      await sink.commit({ calls: [call('a')], ...syncState(false) });
      const staged = join(`${path}.staged`, name);
      chownSync(staged, 65_534, 65_534);
      const copy = join(temporaryFolder(), 'calls.duckdb');
      cpSync(path, copy);
      cpSync(`${path}.staged`, `${copy}.staged`, {
        recursive: true,
        filter: (from) => !from.endsWith('.lock'),
      });
      chownSync(join(`${copy}.staged`, name), 65_534, 65_534);
      await using other = await openWarehouse(copy);
      expect((await other.count()).calls).toBe(0);
      await expect(other.sink('main').load()).rejects.toMatchObject({
        code: 'not_writable',
        message: expect.stringContaining(`${copy}.staged/${name} belongs to another user`),
      });
    },
  );
});

test.runIf(process.platform !== 'win32')(
  'a pipe in the place of a database is neither waited for nor removed',
  async () => {
    const path = join(temporaryFolder(), 'calls.duckdb');
    execFileSync('mkfifo', [path]);
    await expect(openWarehouse(path)).rejects.toMatchObject({
      code: 'not_a_warehouse',
      message: `${path} is not a regular file. Name another file, or a new one and sync again.`,
    });
    expect(lstatSync(path).isFIFO()).toBe(true);
    expect(readdirSync(dirname(path))).toEqual(['calls.duckdb']);
  },
);
