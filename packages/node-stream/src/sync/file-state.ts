import { open, readFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeWhole } from '../sinks/part-file.ts';
import { StateError, type StateStore, type SyncState } from './sync-state.ts';

/**
 * Keeps the state of a sync in a file: written whole under another name and renamed, so that a crash leaves the old
 * one or the new one. A lock file beside it holds the process id; the lock of a process that is gone is taken over.
 */
export function fileState(path: string): StateStore {
  return {
    load: () => readState(path),
    save: (state) => writeWhole(path, `${JSON.stringify(state)}\n`, true),
    lock: () => lock(`${path}.lock`),
  };
}

async function readState(path: string): Promise<SyncState | null> {
  const text = await readOrNull(path);
  if (text === null) return null;
  try {
    return JSON.parse(text) as SyncState;
  } catch (cause) {
    throw new StateError('state_invalid', `${path} is no JSON; remove it to read anew.`, { cause });
  }
}

/** Locks this process holds. In a container each run has the same process id, so a file with it may be of one before. */
const held = new Set<string>();

async function lock(path: string): Promise<() => Promise<void>> {
  const name = resolve(path);
  if (held.has(name)) throw locked(process.pid, path);
  held.add(name);
  try {
    await claim(path);
  } catch (error) {
    held.delete(name);
    throw error;
  }
  return async () => {
    await rm(path, { force: true });
    held.delete(name);
  };
}

async function claim(path: string): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const file = await open(path, 'wx');
      await file.writeFile(String(process.pid));
      await file.close();
      return;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    const text = await readOrNull(path);
    // Another run may have made the file and be about to write its id.
    if (text === '' && attempt === 0) {
      await delay(100);
      continue;
    }
    const owner = Number(text);
    if (owner !== process.pid && isRunning(owner)) throw locked(owner, path);
    await rm(path, { force: true });
  }
  throw new StateError(
    'state_locked',
    `${path} is made again and again; another sync is starting. Try later.`,
  );
}

const locked = (owner: number, path: string): StateError =>
  new StateError(
    'state_locked',
    `Process ${owner} syncs with this state; wait for it, or remove ${path} when that is no sync.`,
  );

function isRunning(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

async function readOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
