import { hostname } from 'node:os';
import type { SyncState, UpsertSink } from '@call-attribution/node-stream';
import type { Removals } from '@call-attribution/node-stream/copies';
import type { Claim } from './accounts/claims.ts';
import type { Store } from './store.ts';

/**
 * A sink by which `syncInto` writes into an account of a store: page by page, each in one transaction with the state of the sync after it.
 *
 * Of two syncs of one account only the one that started later goes on; the other one fails with `claim_lost`. The account must
 * exist.
 *
 * @param holder who syncs, for that error. Default: the name of the machine and the id of the process.
 * @example
 * await syncInto(client, mirrorSink(store, '101'), { filter: 'inc_gce:1' });
 */
export function mirrorSink(
  store: Store,
  account: string,
  holder = `process ${process.pid} on ${hostname()}`,
): UpsertSink {
  let claim: Claim | undefined;
  let removals: Removals | undefined;
  const claimed = async () => {
    claim ??= await store.claim(account, 'sync', holder);
    return claim;
  };
  return {
    async load() {
      claim = undefined;
      const { note } = await claimed();
      removals = await store.removals(account);
      return note as SyncState | null;
    },
    leavesOut: (call) => removals?.isRemoved(call) ?? false,
    commit: async ({ calls, state }) => store.commitClaimed(await claimed(), { calls, note: state }),
  };
}
