import type { Call } from '@call-attribution/core';
import type { Store } from '../store/store.ts';

/** A sink for a sync: calls and the place the sync has reached are kept in one transaction. */
export interface MirrorSink<State> {
  load(): Promise<State | null>;
  commit(batch: { readonly calls: readonly Call[]; readonly state: State }): Promise<void>;
}

/** Lets a sync write into an account of a store, so that the service mirrors it. The account must exist. */
export function mirrorSink<State = unknown>(store: Store, account: string): MirrorSink<State> {
  return {
    load: async () => (await store.syncState(account)) as State | null,
    async commit(batch) {
      await store.commitSync(account, batch);
    },
  };
}
