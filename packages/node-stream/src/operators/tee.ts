import { Readable } from 'node:stream';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import type { ReadableOf } from './operator.ts';

const teeOptions = defineOptions({
  /** Items a branch may hold for its reader. Default 16. */
  highWaterMark: option.whole(1).default(16),
});

/** Settings of `tee`. */
export interface TeeOptions extends OptionsOf<typeof teeOptions> {}

/**
 * Gives every item to each of several readers, at the pace of the slowest, so that nothing piles up. A branch that is
 * destroyed no longer counts; when all are, the source ends. A failing source fails every branch.
 *
 * @example
 * const [file, report] = tee(createCallStream(client), 2);
 */
export function tee<T>(
  source: Iterable<T> | AsyncIterable<T>,
  branches?: 2,
  options?: TeeOptions,
): [ReadableOf<T>, ReadableOf<T>];
/** The same for any number of readers. */
export function tee<T>(
  source: Iterable<T> | AsyncIterable<T>,
  branches: number,
  options?: TeeOptions,
): ReadableOf<T>[];
export function tee<T>(
  source: Iterable<T> | AsyncIterable<T>,
  branches = 2,
  options: TeeOptions = {},
): Readable[] {
  const { highWaterMark } = teeOptions.read(options);
  if (!(branches >= 1))
    throw new ConfigurationError('invalid_option', `branches is ${branches}; expected at least 1`);
  const divider = new Divider(source);
  return Array.from({ length: branches }, () => divider.branch(highWaterMark));
}

/** Moves the items of a source to all branches that are still read, whenever none of them is full. */
class Divider<T> {
  readonly #source: Iterable<T> | AsyncIterable<T>;
  readonly #iterator: Iterator<T> | AsyncIterator<T>;
  readonly #full = new Set<Readable>();
  readonly #live = new Set<Readable>();
  #isPumping = false;
  #isDone = false;

  constructor(source: Iterable<T> | AsyncIterable<T>) {
    this.#source = source;
    this.#iterator =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  }

  branch(highWaterMark: number): Readable {
    const branch = new Readable({
      objectMode: true,
      highWaterMark,
      read: () => {
        this.#full.delete(branch);
        if (this.#full.size === 0) this.#more();
      },
      destroy: (error, callback) => {
        this.#leave(branch);
        callback(error);
      },
    });
    this.#live.add(branch);
    return branch;
  }

  get #mayMove(): boolean {
    return !this.#isDone && this.#live.size > 0 && this.#full.size === 0;
  }

  #more(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    this.#pump().then(
      () => {
        this.#isPumping = false;
        if (this.#mayMove) this.#more();
      },
      (error) => {
        this.#isDone = true;
        for (const branch of this.#live) branch.destroy(error);
      },
    );
  }

  async #pump(): Promise<void> {
    while (this.#mayMove) {
      const { done, value } = await this.#iterator.next();
      this.#isDone ||= done === true;
      for (const branch of this.#live) {
        if (!branch.push(this.#isDone ? null : value)) this.#full.add(branch);
      }
    }
  }

  #leave(branch: Readable): void {
    this.#full.delete(branch);
    this.#live.delete(branch);
    if (this.#live.size > 0) this.#more();
    else if (!this.#isDone) {
      this.#isDone = true;
      if (this.#source instanceof Readable) this.#source.destroy();
      else void Promise.resolve(this.#iterator.return?.()).catch(() => {});
    }
  }
}
