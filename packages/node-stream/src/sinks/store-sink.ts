import { ConfigurationError } from '@call-attribution/core/errors';
import type { ChainCheckpoint } from '../operators/chain-checkpoint.ts';
import type { Sink } from '../operators/forms.ts';
import { defineSink } from './sink.ts';

/** Items for a store, with the position after them. */
export interface ChainBatch<T> {
  /** The items. */
  readonly items: readonly T[];
  /** Where to go on after them: to be stored in the same transaction, in place of the one before. */
  readonly checkpoint: ChainCheckpoint;
  /** These are the last items: a later run with this checkpoint reads nothing. */
  readonly isLast: boolean;
}

/** A store with transactions. */
export interface ChainStore<T> {
  /** The checkpoint that was stored last; null when there is none. */
  load(): Promise<ChainCheckpoint | null> | ChainCheckpoint | null;
  /** Stores items and checkpoint in one transaction: both or neither. */
  commit(batch: ChainBatch<T>): Promise<void> | void;
}

/**
 * Writes into a store, each item exactly once: items and position are stored in one transaction, so that a run that was killed goes on
 * where it was.
 *
 * @example
 * await hours.into(storeSink({ load: () => position.get(), commit: (batch) => inTransaction(() => save(batch)) }));
 */
export function storeSink<T>(store: ChainStore<T>): Sink<T, { readonly written: number }> {
  return defineSink(async (chain) => {
    if (chain.unsaved !== null)
      throw new ConfigurationError('invalid_option', `the read cannot be resumed: ${chain.unsaved}`);
    const checkpoint = await store.load();
    if (checkpoint !== null && 'ended' in checkpoint) return { written: 0 };
    let written = 0;
    // What operators give at the end is stored at once, since nothing could go on in the middle of it.
    const rest: T[] = [];
    for await (const page of chain.pages({ checkpoint })) {
      const { items, checkpoint: after } = page;
      written += items.length;
      if (after === null) rest.push(...items);
      else await store.commit({ items, checkpoint: after, isLast: false });
    }
    await store.commit({ items: rest, checkpoint: ended, isLast: true });
    return { written };
  });
}

/** There is nothing to go on with. */
const ended: ChainCheckpoint & { readonly ended: true } = { ended: true };
