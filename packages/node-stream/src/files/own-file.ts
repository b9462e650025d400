import { randomBytes } from 'node:crypto';
import { constants, existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from '@call-attribution/core/errors';

// Where these flags do not exist, as on Windows, they are undefined and count as 0.
const careful = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Why a file may be another one than this user has made, in words to be read after its name; null
 * when it may not.
 */
function strangeness(stats: Stats): string | null {
  if (stats.isSymbolicLink()) return 'is a link to another place';
  if (!stats.isFile()) return 'is not a regular file';
  if (process.geteuid !== undefined && stats.uid !== process.geteuid())
    return 'belongs to another user';
  return stats.nlink > 1 ? 'is also a file in another place (it has several links)' : null;
}

/** The same for the file with this name; also null when there is none. */
export function strangeFile(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : strangeness(stats);
}

/**
 * Creates a file in the place of one that an earlier run has left. What is at this name is removed,
 * not written to: it may be a link that somebody else has put there, or a file that they have
 * opened.
 */
export async function createFile(path: string, mode?: number): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | careful, mode);
}

/**
 * Opens a file that an earlier run of this user has made, to read and write. `refuse` makes the
 * error for anything else.
 */
export async function openOwnFile(
  path: string,
  refuse: (what: string) => Error,
  flags = constants.O_RDWR,
): Promise<FileHandle> {
  const before = strangeFile(path);
  if (before !== null) throw refuse(before);
  const handle = await open(path, flags | careful);
  const strange = strangeness(await handle.stat());
  if (strange === null) return handle;
  await handle.close();
  throw refuse(strange);
}

/**
 * Opens a file that this user adds to at its end, run after run, and reads; creates it where there
 * is none. `refuse` makes the error for anything else.
 */
export async function openOwnList(
  path: string,
  refuse: (what: string) => Error,
  mode?: number,
): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_APPEND;
  try {
    return await open(path, flags | constants.O_CREAT | constants.O_EXCL | careful, mode);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }

  return openOwnFile(path, refuse, flags);
}

/**
 * What is strange about the files that a database engine keeps next to its own, which it opens
 * without such care: one is a link, a pipe or a folder, or belongs to neither this user nor the
 * owner of the database. Null when none is.
 */
export function findForeignFile(path: string, endings: readonly string[]): string | null {
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  for (const ending of endings) {
    const companion = `${path}${ending}`;
    const stats = lstatSync(companion, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    if (stats.isSymbolicLink()) return `${companion} is a link to another place`;
    if (!stats.isFile()) return `${companion} is not a regular file`;
    const isOurs = process.geteuid === undefined || [process.geteuid(), owner].includes(stats.uid);
    if (!isOurs) return `${companion} belongs to another user`;
  }

  return null;
}

/**
 * Makes a folder and those above it. `recursive` of Node.js never ends where a folder that exists
 * refuses with ENOENT, as /proc does.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  for (let isLast = false; ; isLast = true)
    try {
      return void (await mkdir(path, mode));
    } catch (error) {
      if ((await stat(path).catch(() => null))?.isDirectory()) return;
      if (isLast || codeOf(error) !== 'ENOENT') throw error;
      // Another process may have made the folder around it meanwhile.
      if (!existsSync(dirname(path))) await makeFolder(dirname(path), mode);
    }
}

/**
 * Makes a folder that only this user may write to, unless it is there. Says what is wrong with one
 * that is a link, belongs to another user, or that others may write to; null when nothing is.
 */
export async function makeOwnFolder(path: string): Promise<string | null> {
  await makeFolder(path, 0o700);
  const stats = await lstat(path);
  if (!stats.isDirectory()) return 'is a link to another place';
  if (process.geteuid === undefined) return null;
  if (stats.uid !== process.geteuid()) return 'belongs to another user';
  return (stats.mode & 0o022) === 0 ? null : 'is a folder that others may write to';
}

/** A name next to `path` that nobody can guess, for what will be renamed to it. */
export const provisionalName = (path: string): string =>
  `${path}.${randomBytes(6).toString('hex')}.new`;

const swept = new Set<string>();
const forgottenMs = 3_600_000;

/**
 * Removes what processes that were killed have left under provisional names of this path: once in
 * each process, and only what is an hour older than `now`, a time of the same file system.
 */
export async function sweepProvisional(path: string, now: number): Promise<void> {
  const whole = resolve(path);
  if (swept.has(whole)) return;
  swept.add(whole);
  const folder = dirname(whole);
  const start = `${basename(whole)}.`;
  for (const entry of await readdir(folder)) {
    if (!entry.startsWith(start) || !/^[\da-f]{12}\.new$/.test(entry.slice(start.length))) continue;
    const left = await lstat(join(folder, entry)).catch(() => null);
    if (left !== null && now - left.mtimeMs > forgottenMs)
      await rm(join(folder, entry), { force: true });
  }
}
