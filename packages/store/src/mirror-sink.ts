import type { SyncState, UpsertSink } from '@call-attribution/node-stream';
import type { Store } from './store.ts';

/**
 * Lets a sync of node-stream write into an account of a store, so that the service mirrors it: calls and the place the
 * sync has reached are kept in one transaction. The account must exist.
 */
export function mirrorSink(store: Store, account: string): UpsertSink {
  return {
    load: async () => (await store.syncState(account)) as SyncState | null,
    async commit(batch) {
      await store.commitSync(account, batch);
    },
  };
}
