import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '@call-attribution/node-stream/files';
import { type Receipt, readReceipt, receiptEnding } from '@call-attribution/node-stream/receipts';
import type { PlannedJob } from '../job.ts';
import { monthIn, monthPath } from '../turn/months.ts';
import { lockTarget } from '../turn/target-lock.ts';
import type { Target } from '../turn/turn.ts';
import { type FilesPlace, type MonthWriting, turnIntoFiles } from '../turn/turn-into-files.ts';
import { claimed, makeFolders, onDisk, orNull, sizeOf } from './folder-files.ts';
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
  return {
    async held(job, account) {
      const folder = join(root, dirname(monthPath(account, '2000-01', job)));
      const found = new Map<string, Receipt>();
      for (const entry of (await orNull(readdir(folder))) ?? []) {
        if (!entry.endsWith(receiptEnding)) continue;
        const file = entry.slice(0, -receiptEnding.length);
        const month = monthIn(`account=${account}/${file}`, account, job);
        const receipt = month === null ? null : ((await readReceipt(join(folder, file)))?.receipt ?? null);
        if (month === null || receipt?.bytes == null) continue;
        if ((await sizeOf(join(folder, file))) === receipt.bytes.length) found.set(month, receipt);
      }
      return found;
    },
    begin: (job, account, month) => onDisk(name, () => beginMonth(root, name, job, account, month)),
  };
}

async function beginMonth(
  root: string,
  name: string,
  job: PlannedJob,
  account: string,
  month: string,
): Promise<MonthWriting> {
  const own = await takeFolder(root, `${account}~${month}`);
  const place = join(root, monthPath(account, month, job));
  const path = join(own, basename(place));
  return {
    path,
    commit: () =>
      onDisk(name, async () => {
        await makeFolders(dirname(place));
        // A file in a folder that was moved away has no path, so that this fails whenever somebody claimed the month since.
        await claimed(() => rename(path, place));
        await syncFolder(place);
        await claimed(() => rename(`${path}${receiptEnding}`, `${place}${receiptEnding}`));
        await syncFolder(place);
      }),
    check: () => onDisk(name, () => claimed(async () => void (await stat(own)))),
    // What stays is removed with the next claim of the same.
    drop: () => rm(own, { recursive: true, force: true }).catch(() => {}),
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
