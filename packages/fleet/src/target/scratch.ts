import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { lockFile, makeOwnFolder } from '@call-attribution/node-stream/files';
import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';
import { newNonce } from './folder-claim.ts';
import { openPart, type PartWriter } from './part-writer.ts';

/** A folder of this process for parts that are not sent yet. */
export interface Scratch {
  /** Begins a part. */
  begin(shape: Pick<PinnedJob, 'format' | 'columns'>): Promise<PartWriter>;
  /** Closes a part and removes it. Never throws. */
  remove(part: PartWriter): Promise<void>;
  /** Removes the folder with all its parts. */
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
  const name = `part-${newNonce()}`;
  // The lock is there before the folder, so that nobody takes the folder for one that was left.
  const unlock = await lockFile(join(parent, `${name}.lock`));
  const folder = await mkdtemp(join(parent, `${name}-`));
  const parts = new Set<PartWriter>();
  return {
    async begin(shape) {
      const part = await openPart(join(folder, newNonce()), shape, 0o600);
      parts.add(part);
      return part;
    },
    async remove(part) {
      parts.delete(part);
      await part.abandon();
      await rm(part.path, { force: true }).catch(() => {});
    },
    async close() {
      for (const part of parts) await part.abandon();
      parts.clear();
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
