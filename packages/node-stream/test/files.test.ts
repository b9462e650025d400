import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FileLockedError, lockFile, writeWholeFile } from '../src/files/index.ts';
import { fileSink } from '../src/sinks/index.ts';
import { claimOn, lockText } from './lock-text.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('writeWholeFile', () => {
  test('it writes a string, bytes, or chunks of both', async () => {
    const path = join(folder, 'a');
    await writeWholeFile(path, 'one');
    expect(readFileSync(path, 'utf8')).toBe('one');
    await writeWholeFile(path, Buffer.from('two'));
    expect(readFileSync(path, 'utf8')).toBe('two');
    const long = 'x'.repeat(100_000);
    await writeWholeFile(
      path,
      (async function* () {
        yield 'three ';
        yield Buffer.from('four ');
        yield long;
      })(),
    );
    expect(readFileSync(path, 'utf8')).toBe(`three four ${long}`);
    expect(readdirSync(folder)).toEqual(['a']);
  });

  test('it leaves the old file and nothing else when its source fails', async () => {
    const path = join(folder, 'a');
    writeFileSync(path, 'old');
    const failing = (async function* () {
      yield 'half';
      throw new Error('source failed');
    })();
    await expect(writeWholeFile(path, failing)).rejects.toThrow('source failed');
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['a']);
  });
});

describe('lockFile', () => {
  test('it says which folder does not exist, as a file sink does', async () => {
    const nowhere = join(folder, 'nope');
    const said = { code: 'ENOENT', message: `The folder ${nowhere} does not exist: create it.` };
    await expect(lockFile(join(nowhere, 'lock'))).rejects.toMatchObject(said);
    const sink = fileSink<string>(join(nowhere, 'x.txt'), { encode: [] });
    await expect(pipeline(Readable.from(['one']), sink)).rejects.toMatchObject(said);
  });

  test('it respects a process that runs and takes over the lock of one that does not', async () => {
    const path = join(folder, 'lock');
    writeFileSync(claimOn(path), lockText(process.ppid, null));
    const error = await lockFile(path).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(FileLockedError);
    expect((error as Error).message).toContain(
      `Process ${process.ppid} holds the lock ${claimOn(path)}`,
    );
    writeFileSync(claimOn(path), lockText());
    await (await lockFile(path))();
  });
});
