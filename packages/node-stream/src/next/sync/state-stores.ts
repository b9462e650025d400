import { readFile } from 'node:fs/promises';
import { FileLockedError, StateError } from '../../errors.ts';
import { lockFile, type Unlock } from '../files/file-lock.ts';
import { hasCode } from '../files/own-file.ts';
import { writeWholeFile } from '../files/whole-file.ts';
import type { StateStore, SyncState } from './state.ts';

/**
 * Keeps the state of a sync in memory, for tests and for programs that keep running.
 *
 * @example
 * const state = memoryState();
 */
export function memoryState(initial: SyncState | null = null): StateStore {
  let state = initial;
  let isLocked = false;
  return {
    load: async () => state,
    async save(next) {
      state = next;
    },
    async lock() {
      if (isLocked)
        throw new StateError('state_locked', 'Another sync is using this state. Wait until it ends.');
      isLocked = true;
      return async () => {
        isLocked = false;
      };
    },
  };
}

/**
 * Keeps the state of a sync in a file: written under another name and renamed, so that a crash leaves the old state or
 * the new one. `<path>.lock` keeps a second run out; the lock of a process that no longer runs is taken over.
 *
 * @example
 * const state = fileState('state.json');
 */
export function fileState(path: string): StateStore {
  let held: Unlock | null = null;
  return {
    load: () => readState(path),
    async save(state) {
      await held?.check();
      await writeWholeFile(path, `${JSON.stringify(state)}\n`);
    },
    lock: async () => {
      try {
        const unlock = await lockFile(`${path}.lock`);
        held = unlock;
        return async () => {
          if (held === unlock) held = null;
          await unlock();
        };
      } catch (error) {
        if (error instanceof FileLockedError)
          throw new StateError('state_locked', lockedMessage(error), { cause: error });
        throw error;
      }
    },
  };
}

async function readState(path: string): Promise<SyncState | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    return JSON.parse(text) as SyncState;
  } catch (cause) {
    throw new StateError('state_invalid', `${path} is not JSON; remove it to read everything again.`, {
      cause,
    });
  }
}

function lockedMessage({ owner, host, path }: FileLockedError): string {
  return owner === null
    ? `Another sync is starting with this state (${path}). Try again later.`
    : `Process ${owner} on ${host} syncs with this state. Wait until it ends; remove ${path} if that process is not a sync.`;
}
