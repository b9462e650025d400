import { StateError } from '../errors.ts';
import type { StateStore, SyncState } from './sync-state.ts';

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
