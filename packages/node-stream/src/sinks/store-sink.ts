import { through } from '../operators/chain.ts';
import type { Sink } from '../operators/operator.ts';
import { notResumable } from '../operators/sources.ts';
import type { Checkpoint, Page } from '../page.ts';

/** Items for a store, with the position after them. */
export interface ChainBatch<T> {
  /** The items. */
  readonly items: readonly T[];
  /**
   * Where to go on after them: to be stored in the same transaction, in place of the one before.
   */
  readonly checkpoint: Checkpoint;
}

/** A store with transactions. */
export interface ChainStore<T> {
  /** The checkpoint that was stored last; null when there is none. */
  load(): Promise<Checkpoint | null> | Checkpoint | null;
  /** Stores items and checkpoint in one transaction: both or neither. */
  commit(batch: ChainBatch<T>): Promise<void> | void;
}

/** Items that wait for a position at most: it may be long in coming where operators keep much. */
const mostHeld = 50_000;

/**
 * Writes into a store, each item exactly once: items and position are stored in one transaction, so
 * that a run that was killed goes on where it was. After the end, a later run reads nothing.
 *
 * @example
 * await hours.into(storeSink({ load: () => position.get(), commit: (batch) => inTransaction(() =>
 * save(batch)) }));
 */
export function storeSink<T>(store: ChainStore<T>): Sink<T, { readonly written: number }> {
  return async (source) => {
    const chain = through(source);
    if (chain.unsaved !== null) throw notResumable(chain.unsaved);
    const pace = new SavePace();
    let held: T[] = [];
    let written = 0;
    let last: Page<T> | null = null;

    // The checkpoint is made within what is measured: operators may keep much.
    const commit = (page: Page<T>) =>
      pace.save(async () => {
        await store.commit({ items: held, checkpoint: page.checkpoint });
        written += held.length;
        held = [];
        last = null;
      });

    for await (const page of chain.pages(await store.load())) {
      for (const item of page.items) held.push(item);
      last = page;
      if (pace.isDue || held.length >= mostHeld) await commit(page);
    }

    if (last !== null) await commit(last);
    return { written };
  };
}

/**
 * Says when a position is worth saving: at once while that costs little; else so that saving takes
 * a twentieth of the time.
 */
export class SavePace {
  #last = Number.NEGATIVE_INFINITY;
  #cost = 0;

  get isDue(): boolean {
    return performance.now() - this.#last >= 20 * this.#cost;
  }

  /** Saves, and remembers how long it took. */
  async save(work: () => Promise<void> | void): Promise<void> {
    const begun = performance.now();
    await work();
    this.#last = performance.now();
    this.#cost = this.#last - begun;
  }
}
