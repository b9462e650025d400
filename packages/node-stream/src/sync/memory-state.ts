import { StateError, type StateStore, type SyncState } from './sync-state.ts';

/** Keeps the state of a sync in memory, for tests and for programs that run on. */
export function memoryState(initial: SyncState | null = null): StateStore {
  let state = initial;
  let isLocked = false;
  return {
    load: async () => state,
    async save(next) {
      state = next;
    },
    async lock() {
      if (isLocked) throw new StateError('state_locked', 'Another sync uses this state; wait until it ends.');
      isLocked = true;
      return async () => {
        isLocked = false;
      };
    },
  };
}
