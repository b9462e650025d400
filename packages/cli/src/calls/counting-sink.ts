import { isDeepStrictEqual } from 'node:util';
import { fromCall, type Version } from '@call-attribution/core';
import type { UpsertSink } from '@call-attribution/node-stream';
import { everything, mirrorSink, type Store } from '@call-attribution/store';

/** What a sync did to a store, by what the store held before. */
export interface Written {
  new: number;
  changed: number;
  same: number;
}

/**
 * The sink of a mirror, counting by the store itself. A sync remembers only the calls of its lookback: when that grows,
 * it takes calls for new that the store has long had.
 */
export async function countingSink(
  store: Store,
  account: string,
  version: Version,
): Promise<{ sink: UpsertSink; written: Written }> {
  const written: Written = { new: 0, changed: 0, same: 0 };
  const isEmpty = (await store.count(account, everything)) === 0;
  return {
    written,
    sink: {
      load: () => mirrorSink(store, account).load(),
      async commit(batch) {
        for (const call of batch.calls) {
          const before = isEmpty ? null : await store.get(account, call.sid);
          if (before === null) written.new++;
          else if (isDeepStrictEqual(fromCall(before, version), fromCall(call, version))) written.same++;
          else written.changed++;
        }
        // Calls of a caller who was erased come again with each read, and are left out each time.
        const { leftOut } = await store.commitSync(account, batch);
        written.new -= leftOut;
      },
    },
  };
}
