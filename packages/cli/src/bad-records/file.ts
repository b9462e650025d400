import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import {
  createLineReader,
  FileLockedError,
  lockFile,
  openOwnList,
  syncFolder,
} from '@call-attribution/node-stream/files';
import { CliError, Interrupted } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { pause } from '../term/waiting.ts';

/** Adds lines to a file, each once. Resolves when they are on the disk. */
export type AddLines = (lines: ReadonlyMap<string, string>) => Promise<void>;

/** What is the same for the same record, however often and whenever it comes: a fingerprint of what the line keeps of it. */
export function keyOf({ account, version, record, recordBase64 }: Readonly<Record<string, unknown>>): string {
  const kept = JSON.stringify([account, version, record, recordBase64]);
  return createHash('sha256').update(kept).digest('base64');
}

/**
 * A file of lines of JSON that other processes may add to at the same time. It always ends with a whole line: what a full
 * disk has cut off is taken back. Only the user can read it.
 */
export function lineFile(path: string, signal: AbortSignal): AddLines {
  const known = new Set<string>();
  let size = 0;
  let inode = 0;

  const add = async (lines: ReadonlyMap<string, string>, file: FileHandle): Promise<void> => {
    await file.chmod(0o600);
    const found = await file.stat();
    if (found.ino !== inode || found.size < size) {
      known.clear();
      size = 0;
    }
    inode = found.ino;
    // Another process has added something, or a run that was killed has left a part of a line.
    if (found.size > size) size = await readLinesOf(file, size, known);
    const fresh = [...lines].filter(([key]) => !known.has(key));
    const bytes = Buffer.from(fresh.map(([, line]) => `${line}\n`).join(''));
    try {
      await file.appendFile(bytes);
      await file.datasync();
    } catch (error) {
      await file.truncate(size).catch(() => {});
      throw error;
    }
    for (const [key] of fresh) known.add(key);
    size += bytes.length;
  };

  return async (lines) => {
    const unlock = await lockWhenFree(`${path}.lock`, signal);
    try {
      const file = await openOwnList(path, 0o600, (what) => strange(path, what));
      await add(lines, file).finally(() => file.close());
      await syncFolder(path);
    } finally {
      await unlock();
    }
  };
}

const strange = (path: string, what: string): CliError =>
  new CliError(`the file of bad records ${path} ${what}, so nothing is added to it`, {
    exitCode: exitCodes.output,
    hints: ['remove it, or run the command in a folder of your own'],
  });

/**
 * Adds the keys of the lines from a place on, and says how large the file is then. A last line without its end gets it, or is
 * removed when it is not whole.
 */
async function readLinesOf(file: FileHandle, start: number, known: Set<string>): Promise<number> {
  let isWhole = true;
  const reader = createLineReader((line) => {
    try {
      known.add(keyOf(JSON.parse(line)));
      isWhole = true;
    } catch {
      isWhole = false;
    }
  });
  let [size, end] = [start, start];
  for await (const chunk of file.createReadStream({ start, autoClose: false })) {
    reader.push(chunk);
    const last = chunk.lastIndexOf(0x0a);
    if (last >= 0) end = size + last + 1;
    size += chunk.length;
  }
  reader.end();
  if (end === size) return size;
  if (isWhole) await file.appendFile('\n');
  else await file.truncate(end);
  return isWhole ? size + 1 : end;
}

/** Waits for the process that holds the lock: it adds a few lines and is soon done. */
async function lockWhenFree(path: string, signal: AbortSignal): Promise<() => Promise<void>> {
  for (let wait = 10; ; wait = Math.min(2 * wait, 500)) {
    try {
      return await lockFile(path);
    } catch (error) {
      if (!(error instanceof FileLockedError)) throw error;
    }
    await pause(wait, signal);
    if (signal.aborted) throw new Interrupted();
  }
}
