import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { lockFile, makeOwnFolder } from '@call-attribution/node-stream/files';
import { FleetError } from '../errors.ts';

/** A folder of this process for files that are not sent yet. */
export interface Scratch {
  /** Makes a folder in it. */
  folder(): Promise<string>;
  /** Removes the folder with all that is in it. */
  close(): Promise<void>;
}

/**
 * Makes a folder that only this user can read, below `named` or the folder for temporary files. Those of processes that were killed
 * are removed, since they hold records of calls.
 */
export async function openScratch(named?: string): Promise<Scratch> {
  const parent = named ?? join(tmpdir(), `calls-fleet-${userName()}`);
  if (named !== undefined) await mkdir(parent, { recursive: true, mode: 0o700 });
  else {
    // Everybody can make a folder of this name.
    const strange = await makeOwnFolder(parent);
    if (strange !== null)
      throw new FleetError('target_unfit', `The folder for temporary files ${parent} ${strange}.`, {
        hint: 'Remove it, or name another folder with --scratch.',
      });
  }
  await sweep(parent);
  const name = `part-${randomBytes(9).toString('base64url')}`;
  // The lock is there before the folder, so that nobody takes the folder for one that was left.
  const unlock = await lockFile(join(parent, `${name}.lock`));
  const folder = await mkdtemp(join(parent, `${name}-`));
  return {
    folder: () => mkdtemp(join(folder, 'file-')),
    async close() {
      await rm(folder, { recursive: true, force: true });
      await unlock();
    },
  };
}

async function sweep(parent: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    const [, name] = /^(part-[\w-]{12})-\w{6}$/.exec(entry) ?? [];
    if (name === undefined) continue;
    try {
      const unlock = await lockFile(join(parent, `${name}.lock`));
      await rm(join(parent, entry), { recursive: true, force: true });
      await unlock();
    } catch {
      // Somebody works there, or it belongs to another user.
    }
  }
}

function userName(): string {
  try {
    return String(userInfo().uid);
  } catch {
    return 'user';
  }
}
