import { through } from '../operators/chain.ts';
import type { Chain, Sink } from '../operators/forms.ts';
import type { ChainSource } from '../operators/packets.ts';

/** Makes a sink of a function that reads a chain. */
export function defineSink<T, W extends object>(write: (chain: Chain<T>) => Promise<W>): Sink<T, W> {
  return Object.assign((source: ChainSource<T>) => write(through(source)), { write });
}

/** Says when a position is worth saving: at once while that costs little, and every few seconds where it takes long. */
export class SavePace {
  readonly #now: () => number;
  #last = Number.NEGATIVE_INFINITY;
  #cost = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether enough has happened since the last time. */
  get isDue(): boolean {
    return this.#now() - this.#last >= Math.min(20 * this.#cost, 10_000);
  }

  /** Saves, and remembers how long it took. */
  async save(work: () => Promise<void>): Promise<void> {
    const begun = this.#now();
    await work();
    this.#last = this.#now();
    this.#cost = this.#last - begun;
  }
}
