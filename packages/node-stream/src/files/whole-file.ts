import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createFile, provisionalName, sweepProvisional } from './own-file.ts';

/** What a file is written from: a string, bytes, or several of them in order. */
export type FileContents =
  | string
  | Uint8Array
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>;

/** Settings of `writeWholeFile`. */
export interface WholeFileOptions {
  /** Permissions of the file, such as `0o600`. Default: as for any new file. */
  mode?: number;
}

/** How the names of receipts end. */
export const receiptEnding = '.receipt.json';

/** The file of the receipt of a file. */
export const receiptPath = (path: string): string => `${path}${receiptEnding}`;

/** Removes the receipt of a file that is about to be replaced: it describes the old one. */
export function removeReceipt(path: string): Promise<void> {
  return rm(receiptPath(path), { force: true });
}

/**
 * Writes a file under a name of its own, `<path>.….new`, and then renames it: a reader sees the old
 * contents or the new ones, never a part. When writing fails, the old file stays as it was and the
 * new one is removed. It is on the disk before it has its name, so that a power cut loses nothing.
 * A receipt of the old file is removed with it.
 *
 * @example
 * await writeWholeFile('settings.json', JSON.stringify(settings));
 */
export async function writeWholeFile(
  path: string,
  contents: FileContents,
  { mode }: WholeFileOptions = {},
): Promise<void> {
  const provisional = provisionalName(path);
  const handle = await createFile(provisional, mode);
  try {
    await sweepProvisional(path, (await handle.stat()).mtimeMs);
    await writeFile(handle, contents);
    await handle.sync();
    await handle.close();
    await removeReceipt(path);
    await rename(provisional, path);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(provisional, { force: true });
    throw error;
  }

  await syncFolder(path);
}

/** Makes the name of a new or renamed file durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot sync a folder; there the rename has to be enough.
  if (process.platform === 'win32') return;
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
