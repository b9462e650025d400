import { readFile } from 'node:fs/promises';
import { StateError } from '../../errors.ts';
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
  return {
    load: async () => state,
    async save(next) {
      state = next;
    },
  };
}

/**
 * Keeps the state of a sync in a file: written under another name and renamed, so that a crash leaves the old state or the new one.
 * `<path>.lock` keeps a second run out; the lock of a process that no longer runs is taken over.
 *
 * @example
 * const state = fileState('state.json');
 */
export function fileState(path: string): StateStore {
  let held: Unlock | null = null;
  return {
    async load() {
      try {
        return JSON.parse(await readFile(path, 'utf8'));
      } catch (cause) {
        if (hasCode(cause, 'ENOENT')) return null;
        if (!(cause instanceof SyntaxError)) throw cause;
        const message = `${path} is not JSON; remove it to read everything again.`;
        throw new StateError('state_invalid', message, { cause });
      }
    },
    async save(state) {
      await held?.check();
      await writeWholeFile(path, `${JSON.stringify(state)}\n`);
    },
    async lock() {
      const unlock = await lockFile(`${path}.lock`);
      held = unlock;
      return async () => {
        if (held === unlock) held = null;
        await unlock();
      };
    },
  };
}
