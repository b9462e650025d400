import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError, codeOf } from '@call-attribution/core/errors';
import { lockFile } from '../files/file-lock.ts';
import { makeFolder } from '../files/own-file.ts';
import { writeWholeFile } from '../files/whole-file.ts';
import { isStrange, readReceiptText } from '../receipts/receipt.ts';

/** Where files go: a folder, or a bucket. Names have slashes. */
export interface MonthTarget {
  /** The files of a folder, with their sizes. */
  list(folder: string): Promise<readonly { readonly name: string; readonly size: number }[]>;
  /** The text of a receipt; null when there is none, or a pipe or a device in its place. */
  read(name: string): Promise<string | null>;
  /** Writes a file: whole, in the place of an earlier one, or not at all. */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Keeps others from writing into a folder. Resolves with what lets go of it. */
  lock?(folder: string): Promise<() => Promise<void>>;
}

/** A folder as a target of `exportMonths`. */
export function monthFolder(root: string): MonthTarget {
  const at = (name: string): string => join(root, ...name.split('/'));

  const make = async (folder: string): Promise<void> => {
    await makeFolder(at(folder));
    if ((await lstat(at(folder))).isDirectory()) return;
    throw new ConfigurationError(
      'invalid_option',
      `${at(folder)} is a link to another place. Remove the link, or export into another folder.`,
    );
  };

  return {
    async list(folder) {
      const entries = await readdir(at(folder)).catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return [];
        throw error;
      });
      const sized = entries.map(async (entry) => {
        const stats = await lstat(join(at(folder), entry));
        return stats.isFile() ? [{ name: `${folder}/${entry}`, size: stats.size }] : [];
      });
      return (await Promise.all(sized)).flat();
    },
    async read(name) {
      try {
        return readReceiptText(at(name));
      } catch (error) {
        const code = codeOf(error) ?? '';
        if (code === 'ENOENT' || isStrange(code)) return null;
        throw error;
      }
    },
    async put(name, bytes) {
      await make(name.slice(0, name.lastIndexOf('/')));
      await writeWholeFile(at(name), bytes);
    },
    async lock(folder) {
      await make(folder);
      return lockFile(at(`${folder}/_calls.lock`));
    },
  };
}
