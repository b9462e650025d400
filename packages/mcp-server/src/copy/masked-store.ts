import type { Client } from '@call-attribution/core';
import {
  type SyncBatch,
  type SyncOptions,
  syncInto,
  type UpsertSink,
} from '@call-attribution/node-stream';
import { mirrorSink, openStore, type Store } from '@call-attribution/store';
import type { MaskCalls, MaskedCall } from '../privacy/mask.ts';

// The store of a copy. Nothing but the sink here can write to it, and that takes masked calls alone:
// whoever has a call as it was sent has to mask it first, or the program does not compile.

/** What a copy is read by. */
export type KeptStore = Pick<
  Store,
  'accounts' | 'sizes' | 'verdict' | 'columns' | 'count' | 'calls' | 'get' | 'note'
>;

/** A store of the masked calls of one account. */
export interface MaskedStore {
  /** What is kept. */
  readonly kept: KeptStore;
  /** Reads calls of the API into it, each page masked. Throws what the API or the store does. */
  sync(client: Client, options: MaskedSyncOptions): Promise<void>;
  close(): Promise<void>;
}

/** How calls are read. */
export interface MaskedSyncOptions
  extends Pick<SyncOptions, 'first' | 'settle' | 'signal' | 'clock' | 'onProgress'> {
  /** Called when calls have been written. */
  readonly onWritten: () => void;
}

/** Writes masked calls, and no others. */
interface MaskedSink extends Omit<UpsertSink, 'commit'> {
  commit(
    batch: Omit<SyncBatch, 'calls'> & { readonly calls: readonly MaskedCall[] },
  ): ReturnType<UpsertSink['commit']>;
}

/** Takes calls as they were sent, and passes them on masked. */
const masking = (sink: MaskedSink, mask: MaskCalls, onWritten: () => void): UpsertSink => ({
  ...sink,
  async commit(batch) {
    const outcome = await sink.commit({ ...batch, calls: mask(batch.calls) });
    onWritten();
    return outcome;
  },
});

/** Opens the store of an account in a file, or in memory where `file` is null. */
export async function openMaskedStore(
  file: string | null,
  account: string,
  mask: MaskCalls,
  clock: NonNullable<SyncOptions['clock']>,
): Promise<MaskedStore> {
  const store = await openStore(`sqlite:${file ?? ':memory:'}`, { clock });
  await store.putAccount({ id: account, name: account });
  return {
    kept: store,
    async sync(client, { onWritten, ...options }) {
      // A record that cannot be read must not keep all others out.
      const sink: MaskedSink = mirrorSink(store, account, { onError: 'skip' });
      await syncInto(client, masking(sink, mask, onWritten), {
        ...options,
        filter: client.version === 'v3' ? 'inc_gce:1' : '',
        order: 'newest',
        prefetch: 8,
        onError: 'skip',
      });
    },
    close: () => store.close(),
  };
}
