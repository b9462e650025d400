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
