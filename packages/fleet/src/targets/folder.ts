import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '@call-attribution/core/errors';
import { monthFolder } from '@call-attribution/node-stream';
import { makeFolder, syncFolder, writeWholeFile } from '@call-attribution/node-stream/files';
import { claimLost, FleetError } from '../errors.ts';
import { turnIntoMonths } from './months.ts';
import { lockTarget, type Target } from './target.ts';

// Who reads an account has a folder below `.fleet/claims`, where a file is written before it is
// renamed to its place. The next one moves that folder away first, so that whoever had the account
// before cannot rename anything any more.

/** A folder as a target: a file for each month of an account, and next to it its receipt. */
export function openFolderTarget(root: string): Target {
  const name = `folder:${root}`;
  const claims = join(root, '.fleet/claims');
  const { list, read } = monthFolder(root);
  return {
    name,
    prepare: (isAlone) =>
      onDisk(name, async () => {
        await makeFolder(claims);
        for (const left of await readdir(claims))
          if (left.startsWith('~')) await rm(join(claims, left), { recursive: true, force: true });
        return isAlone ? lockTarget(name, join(root, '.fleet/lock')) : async () => {};
      }),
    turn: (work) =>
      onDisk(name, async () => {
        const own = await takeAccount(claims, work.account.id);

        const put = async (file: string, bytes: AsyncIterable<Uint8Array>): Promise<void> => {
          const path = join(own, basename(file));
          const place = join(root, ...file.split('/'));
          await claimed(() => writeWholeFile(path, bytes));
          await makeFolder(dirname(place));
          await claimed(() => rename(path, place));

          // The folder of the account may be new, too.
          for (const renamed of [place, dirname(place)]) await syncFolder(renamed);
        };

        try {
          return await turnIntoMonths({ list, read, put }, work);
        } finally {
          // What stays is removed by whoever takes the account next.
          await rm(own, { recursive: true, force: true }).catch(() => {});
        }
      }),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/**
 * Makes a folder for a claim, then moves away those of all others who have the same account. In
 * this order, of two at once each sees the other or the later one does, so never both keep theirs.
 * What is renamed out of a folder that was moved away is no longer there.
 */
async function takeAccount(claims: string, account: string): Promise<string> {
  const nonce = randomBytes(9).toString('base64url');
  const mine = `${account}#${nonce}`;
  await mkdir(join(claims, mine));
  for (const other of await readdir(claims)) {
    if (!other.startsWith(`${account}#`) || other === mine) continue;
    const dead = join(claims, `~${other}~${nonce}`);
    await rename(join(claims, other), dead).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
    // The next worker that starts removes what stays.
    await rm(dead, { recursive: true, force: true }).catch(() => {});
  }

  return join(claims, mine);
}

/** Runs a step that needs the folder of a claim. Where that is gone, the claim was lost. */
async function claimed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw codeOf(error) === 'ENOENT' ? claimLost(error) : error;
  }
}

/**
 * Passes errors on, those of the file system as `target_unavailable`: they have nothing to do with
 * the records.
 */
async function onDisk<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code = codeOf(cause) ?? '';
    if (!/^E[A-Z0-9]+$/.test(code)) throw cause;
    throw new FleetError('target_unavailable', `${name} ${reasons[code] ?? 'failed'} (${code}).`, {
      cause,
    });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'has no space left',
  EDQUOT: 'has no space left',
  EACCES: 'cannot be written to by this user',
  EPERM: 'cannot be written to by this user',
  EROFS: 'is read-only',
  ENOENT: 'is not there, or parts of it are missing',
  ENOTDIR: 'is a file, or lies below one',
  EEXIST: 'is a file, or lies below one',
};
