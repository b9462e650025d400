import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder, writeWholeFile } from '@call-attribution/node-stream/files';
import { lockTarget } from '../turn/target-lock.ts';
import type { Target } from '../turn/turn.ts';
import { type FilesPlace, turnIntoFiles } from '../turn/turn-into-files.ts';
import { claimed, makeFolders, onDisk, orNull, readText, sizeOf } from './folder-files.ts';
import { claimsPath, deadPath, prepareFolder } from './folder-start.ts';

/** A folder as a target: a file for each month of an account, and next to it its receipt. */
export function openFolderTarget(root: string): Target {
  const name = `folder:${root}`;
  const place = folderPlace(root, name);
  return {
    name,
    prepare: (job) => onDisk(name, () => prepareFolder(name, root, job)),
    lock: () => lockTarget(name, join(root, '.fleet/lock')),
    turn: (work) => onDisk(name, () => turnIntoFiles(place, work)),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

function folderPlace(root: string, name: string): FilesPlace {
  const at = (file: string): string => join(root, ...file.split('/'));
  return {
    begin: (account) =>
      onDisk(name, async () => {
        const own = await takeFolder(root, account);
        return {
          async list(folder) {
            const names = (await orNull(readdir(at(folder)))) ?? [];
            const sizes = await Promise.all(names.map((each) => sizeOf(join(at(folder), each))));
            return names.flatMap((each, i) => ({ name: `${folder}/${each}`, size: sizes[i] ?? -1 }));
          },
          read: (file) => readText(at(file)),
          async put(file, bytes) {
            const path = join(own, basename(file));
            const place = at(file);
            // A file in a folder that was moved away has no path, so that this fails whenever somebody took the account since.
            await claimed(() => writeWholeFile(path, bytes));
            await makeFolders(dirname(place));
            await claimed(() => rename(path, place));
            await syncFolder(place);
          },
          // What stays is removed by whoever takes the account next.
          close: () => rm(own, { recursive: true, force: true }).catch(() => {}),
        };
      }),
  };
}

/** A name that nobody else has. */
const newNonce = (): string => randomBytes(9).toString('base64url');

/**
 * Makes a folder for a claim, then moves away those of all others who have the same. In this order, of two at once each sees the
 * other or the later one does, so never both keep theirs. What is renamed out of a folder that was moved away is no longer there.
 */
async function takeFolder(root: string, key: string): Promise<string> {
  const prefix = `${key}#`;
  const mine = `${prefix}${newNonce()}`;
  const claims = join(root, claimsPath);
  const own = join(claims, mine);
  await mkdir(own);
  for (const other of await readdir(claims)) {
    if (!other.startsWith(prefix) || other === mine) continue;
    const dead = join(root, deadPath, `${other}~${newNonce()}`);
    await orNull(rename(join(claims, other), dead));
    // Whoever comes next removes what stays.
    await rm(dead, { recursive: true, force: true }).catch(() => {});
  }
  return own;
}
