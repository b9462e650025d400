import { open, readFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Another run holds a lock file. */
export class FileLockedError extends Error {
  /** Always the same, to tell it from other errors. */
  readonly code = 'file_locked';
  /** The lock file. */
  readonly path: string;
  /** Id of the process that holds it; null when several processes were taking the lock at the same moment. */
  readonly owner: number | null;

  constructor(path: string, owner: number | null) {
    super(
      owner === null
        ? `Another process is taking the lock ${path} at the same moment. Try again.`
        : `Process ${owner} holds the lock ${path}. Wait until it ends. If that process is a different program, remove the file.`,
    );
    this.name = 'FileLockedError';
    this.path = path;
    this.owner = owner;
  }
}

/** Lock files this process holds. In a container every run has the same process id, so the id alone does not tell. */
const held = new Set<string>();

/**
 * Keeps other processes out: creates a lock file with the id of this process, and returns the function that removes it.
 * A lock whose process no longer runs is taken over. Throws `FileLockedError` when another run holds it.
 *
 * @example
 * const unlock = await lockFile('state.json.lock');
 * try {
 *   await work();
 * } finally {
 *   await unlock();
 * }
 */
export async function lockFile(path: string): Promise<() => Promise<void>> {
  const name = resolve(path);
  if (held.has(name)) throw new FileLockedError(path, process.pid);
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
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    });
    // Another run may have created the file and be about to write its id.
    if (text === '' && attempt === 0) {
      await delay(100);
      continue;
    }
    const owner = Number(text);
    if (owner !== process.pid && isRunning(owner)) throw new FileLockedError(path, owner);
    await rm(path, { force: true });
  }
  throw new FileLockedError(path, null);
}

/** The process that holds a lock file. Null when there is no lock, or when its process no longer runs. */
export async function lockOwner(path: string): Promise<number | null> {
  const owner = Number(await readFile(path, 'utf8').catch(() => null));
  return isRunning(owner) ? owner : null;
}

function isRunning(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
