import { setMaxListeners } from 'node:events';
import { StreamError } from '../errors.ts';
import type { Range } from '../proof.ts';
import {
  type Answer,
  type Ask,
  type Item,
  type ListSource,
  Misplaced,
  type SliceOptions,
} from './list.ts';

/**
 * Requests of any read, and those that a delivered slice adds: totals that cannot be true end here.
 * The first items of a list may lie behind some tens of empty pieces. A slice may take five tries of
 * two pages each, and as many again that find where it ends.
 */
const fewRequests = 100;
const requestsPerSlice = 20;

/** Asks a list, as often as what it has brought allows. */
export class Requests<I extends Item> {
  readonly #source: ListSource<I>;
  readonly #options: Pick<SliceOptions, 'rows' | 'stop'>;
  #sent = 0;
  #open = 0;
  #most: number;
  #slices = 0;

  constructor(source: ListSource<I>, options: Pick<SliceOptions, 'rows' | 'stop' | 'from'>) {
    this.#source = source;
    this.#options = options;

    // What lies at the border of an earlier read comes again: a page at most for each.
    this.#most = fewRequests + new Set(options.from?.border).size;

    // One for each request on its way.
    setMaxListeners(0, options.stop.signal);
  }

  /** Requests without an answer. */
  get open(): number {
    return this.#open;
  }

  /** Those that have one. */
  get answered(): number {
    return this.#sent - this.#open;
  }

  /** Slices with something new. */
  get slices(): number {
    return this.#slices;
  }

  /** A slice has brought something new. */
  brought(): void {
    this.#slices += 1;
    this.#most += requestsPerSlice;
  }

  async ask(
    range: Range,
    { page = 0, rows = this.#options.rows, after = null }: Partial<Omit<Ask, 'range'>> = {},
  ): Promise<Answer<I> | Misplaced> {
    this.#sent += 1;
    this.#open += 1;

    // One that is refused stays open, so that no more are asked for ahead.
    if (this.#sent > this.#most)
      throw new StreamError(
        'too_many_requests',
        `${this.#sent - 1} requests brought ${this.#slices} pages of items: the totals of the server cannot be true.`,
      );

    try {
      const { signal } = this.#options.stop;
      return await this.#source.ask({ range, page, rows, after, signal });
    } catch (error) {
      if (error instanceof Misplaced) return error;
      throw error;
    } finally {
      this.#open -= 1;
    }
  }
}
