import { mkdir, open, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { codeOf } from '@call-attribution/core/errors';
import { syncFolder } from '@call-attribution/node-stream/files';
import { claimLost, FleetError } from '../errors.ts';

/** The code of an error of the file system, such as `ENOENT`; undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  const code = codeOf(error) ?? '';
  return /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** Passes errors on, those of the file system as `target_unavailable`: they have nothing to do with the records. */
export async function onDisk<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code = errnoOf(cause);
    if (code === undefined) throw cause;
    throw new FleetError('target_unavailable', `${name} ${reasons[code] ?? `failed (${code})`}`, { cause });
  }
}

const refused = 'cannot be written to: its permissions do not allow it. Let this user write there.';
const full = 'has no space left. Free some; what was committed is safe, and workers try again.';
const gone = 'is not there, or parts of it are missing. Mount or restore it.';
const reasons: Readonly<Record<string, string>> = {
  ENOSPC: `(ENOSPC) ${full}`,
  EDQUOT: `(EDQUOT) ${full}`,
  EACCES: `(EACCES) ${refused}`,
  EPERM: `(EPERM) ${refused}`,
  EROFS: '(EROFS) is read-only. Use a folder that can be written to.',
  ENOENT: `(ENOENT) ${gone}`,
  ESTALE: `(ESTALE) ${gone}`,
};

/** Runs a step that needs the folder of a claim. Where that is gone, the claim was lost. */
export async function claimed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw errnoOf(error) === 'ENOENT' ? claimLost(error) : error;
  }
}

/** What a promise gives; null where there is no such file. */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The text of a file; null when there is none. */
export const readText = (path: string): Promise<string | null> => orNull(readFile(path, 'utf8'));

/** The size of a file; null when there is none. */
export const sizeOf = async (path: string): Promise<number | null> =>
  (await orNull(stat(path)))?.size ?? null;

/** Writes a new file and waits for the disk. */
export async function writeNew(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Makes the folders that a path needs, so that they outlast a power cut. */
export async function makeFolders(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  let path = first;
  await syncFolder(path);
  for (const name of relative(first, folder)
    .split(sep)
    .filter((part) => part !== '')) {
    path = join(path, name);
    await syncFolder(path);
  }
}
