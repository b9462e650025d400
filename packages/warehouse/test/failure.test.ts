import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { datasetFailure, failureOf } from '../src/file/failure.ts';
import { openWarehouse } from '../src/index.ts';
import { call, cleanUp, rowsOf, temporaryFolder, testWarehouse } from './support.ts';

afterAll(cleanUp);

const damaged =
  'is damaged, or a part of it is missing. Restore a copy, or name a new file and sync again; keep this one until then.';

describe('what DuckDB and the file system say', () => {
  test.each([
    [
      'IO Error: Cannot open file "x": Permission denied',
      'not_writable',
      'f cannot be opened to read or write. ',
    ],
    [
      "IO Error: Cannot open file 'x': Operation not permitted",
      'not_writable',
      'f cannot be opened to read or write. ',
    ],
    ['IO Error: Could not write file "x": No space left on device', 'disk_full', 'The disk of f is full. '],
    [
      'IO Error: Cannot open file "f": Is a directory',
      'not_a_warehouse',
      'f is a folder. Name a file in it, such as f/calls.duckdb.',
    ],
    ['IO Error: Corrupt database file: computed checksum', 'damaged', `f ${damaged}`],
    ['INTERNAL Error: something', 'database', 'The database of f failed: '],
  ])('of a warehouse: %s', (text, code, message) => {
    expect(failureOf(new Error(text), 'f')).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  test.each([
    [
      'IO Error: Could not write file "x": No space left on device',
      'disk_full',
      'The files that are complete stay: ',
    ],
    ['EACCES: permission denied, mkdir', 'not_writable', 'f cannot be opened to read or write. '],
    ['ENOENT: no such file or directory', 'not_found', 'There is no file or folder f.'],
    ['ENOTDIR: not a directory, mkdir', 'invalid_dataset', 'A file is in the way of the folder f. '],
  ])('of a folder of Parquet files: %s', (text, code, message) => {
    expect(datasetFailure(new Error(text), 'f')).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });
});

describe('a file that is damaged', () => {
  test('is kept and said to be damaged, by a statement in SQL as well', async () => {
    const { warehouse, path } = await testWarehouse();
    const calls = Array.from({ length: 700 }, (_, i) => call(`S${i}`, { landing_page: `/${Math.sin(i)}` }));
    await warehouse.load('main', calls);
    const all = 'select max(columns(*)) from calls';
    await rowsOf(warehouse, all);
    await warehouse.close();
    const size = readFileSync(path).length;
    truncateSync(path, size - 20_000);
    const error = { code: 'damaged', message: `${path} ${damaged}` };
    const again = await openWarehouse(path);
    await expect(rowsOf(again, all)).rejects.toMatchObject(error);
    await again.close();
    truncateSync(path, 20_000);
    await expect(openWarehouse(path)).rejects.toMatchObject(error);
    expect(readFileSync(path)).toHaveLength(20_000);
  });
});

describe('a folder that cannot be written', () => {
  test('a file in its place is named', async () => {
    const { warehouse } = await testWarehouse();
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    await expect(warehouse.exportParquet(file)).rejects.toMatchObject({
      code: 'invalid_dataset',
      message: `A file is in the way of the folder ${file}. Choose another folder.`,
    });
  });

  const disk = temporaryFolder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=32k', 'tmpfs', disk]).status === 0;
  afterAll(() => {
    if (mounted) execFileSync('umount', [disk]);
  });
  test.runIf(mounted)('when its disk is full, the folder is named and not the warehouse', async () => {
    const { warehouse } = await testWarehouse();
    await warehouse.load('main', [call('a')]);
    const first = join(temporaryFolder(), 'first');
    await warehouse.exportParquet(first);
    const folder = join(disk, 'full');
    mkdirSync(folder);
    copyFileSync(join(first, '_calls.json'), join(folder, '_calls.json'));
    writeFileSync(join(disk, 'filler'), Buffer.alloc(16_384));
    await expect(warehouse.exportParquet(folder)).rejects.toMatchObject({
      code: 'disk_full',
      message: `The disk of ${folder} is full. The files that are complete stay: free some space and run the same command again, which writes the others.`,
    });
  });
});
