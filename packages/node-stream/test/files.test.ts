import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLineReader, FileLockedError, lockFile, writeWholeFile } from '../src/files/index.ts';
import { claimOn, lockText } from './lock-text.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The lines in some chunks. */
function linesIn(chunks: readonly (string | Uint8Array)[]): string[] {
  const lines: string[] = [];
  const reader = createLineReader((line) => lines.push(line.toString()));
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return lines;
}

describe('createLineReader', () => {
  test('it gives each line without its line break, the last one too', () => {
    expect(linesIn(['a\r\nb\n', '\nlast'])).toEqual(['a', 'b', '', 'last']);
    expect([linesIn(['a\n']), linesIn([])]).toEqual([['a'], []]);
  });

  test('it reads the same lines however the bytes are cut into chunks', () => {
    const line = fc.stringMatching(/^[^\r\n]{0,12}$/u);
    const cuts = fc.array(fc.nat(60), { maxLength: 6 });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1 }), cuts, (lines, at) => {
        const bytes = Buffer.from(`${lines.join('\n')}\n`);
        const ends = [...new Set([0, ...at.filter((end) => end < bytes.length), bytes.length])].sort(
          (a, b) => a - b,
        );
        expect(linesIn(ends.slice(1).map((end, i) => bytes.subarray(ends[i], end)))).toEqual(lines);
      }),
    );
  });
});

test('createLineReader reports a line that is too long and reads on after it', () => {
  const lines: (string | null)[] = [];
  const reader = createLineReader((line) => lines.push(line.toString()), {
    maxBytes: 3,
    onTooLong: () => lines.push(null),
  });
  for (const chunk of ['ab', 'c\nabc', 'd', 'e\r\nxy\r', '\nabc\r\nz']) reader.push(Buffer.from(chunk));
  reader.end();
  reader.end();
  expect(lines).toEqual(['abc', null, 'xy', 'abc', 'z']);
});

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
  test('it respects a process that runs and takes over the lock of one that does not', async () => {
    const path = join(folder, 'lock');
    writeFileSync(claimOn(path), lockText(process.ppid, null));
    const error = await lockFile(path).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(FileLockedError);
    expect((error as Error).message).toContain(`Process ${process.ppid} holds the lock ${claimOn(path)}`);
    writeFileSync(claimOn(path), lockText());
    await (await lockFile(path))();
  });
});
