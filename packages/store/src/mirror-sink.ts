import { hostname } from 'node:os';
import type { SyncState, UpsertSink } from '@call-attribution/node-stream';
import type { Removals } from '@call-attribution/node-stream/copies';
import type { Claim } from './accounts/claims.ts';
import type { Store } from './store.ts';

/**
 * A sink by which `syncInto` writes into an account of a store. Calls are written page by page. The state of the sync is written in
 * the transaction of a page once the calls since the last time outweigh its open records, and at the end of a run: it costs less
 * than the calls, however many are open. A sync that was killed reads again what came after the last state, which changes nothing.
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
  let sinceState = 0;
  let removals: Removals | undefined;
  const claimed = async () => {
    claim ??= await store.claim(account, 'sync', holder);
    return claim;
  };
  return {
    compares: true,
    async load() {
      claim = undefined;
      sinceState = 0;
      const { note } = await claimed();
      removals = await store.removals(account);
      return note as SyncState | null;
    },
    leavesOut: (call) => removals?.isRemoved(call) ?? false,
    async commit({ calls, state, isLast }) {
      sinceState += calls.length;
      const isDue = isLast || sinceState * openPerCall >= state.pending.length;
      const stored = await store.commitClaimed(await claimed(), isDue ? { calls, note: state } : { calls });
      if (isDue) sinceState = 0;
      return stored;
    },
  };
}

/** Open records of a state that may be written for each call: an open record takes about a twentieth of the bytes of a call. */
const openPerCall = 4;
