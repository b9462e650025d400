import { ConfigurationError } from '@call-attribution/core/errors';
import { through } from './chain.ts';
import type { Chain } from './forms.ts';
import { type ChainSource, type Inlet, openSource, type PagedSource, type SourcePage } from './packets.ts';

/**
 * Gives every item to each of several readers, at the pace of the slowest, so that nothing piles up: read them at the same time. A branch
 * that is left no longer counts; when all are left, the source ends. A failing source fails every branch, after what came before it.
 *
 * @example
 * const [file, report] = tee(createCallStream(client), 2);
 */
export function tee<T>(source: ChainSource<T>, branches?: 2): [Chain<T>, Chain<T>];
/** The same for any number of readers. */
export function tee<T>(source: ChainSource<T>, branches: number): Chain<T>[];
export function tee<T>(source: ChainSource<T>, branches = 2): Chain<T>[] {
  if (!(branches >= 1))
    throw new ConfigurationError('invalid_option', `branches is ${branches}; expected at least 1`);
  const divider = new Divider(source);
  return Array.from({ length: branches }, () => through(divider.branch()));
}

interface Branch<T> {
  /** Where the next page goes; null while the branch does not wait for one. */
  waiting: { resolve(page: SourcePage<T> | null): void; reject(error: unknown): void } | null;
}

/** Moves the pages of a source to all branches that are still read, whenever all of them wait. */
class Divider<T> {
  readonly #source: ChainSource<T>;
  readonly #live = new Set<Branch<T>>();
  #inlet: Inlet<T> | null = null;
  #isPulling = false;

  constructor(source: ChainSource<T>) {
    this.#source = source;
  }

  branch(): PagedSource<T> {
    const branch: Branch<T> = { waiting: null };
    this.#live.add(branch);
    const next = () =>
      new Promise<SourcePage<T> | null>((resolve, reject) => {
        branch.waiting = { resolve, reject };
        this.#move();
      });
    const leave = () => this.#leave(branch);
    return {
      unsaved: 'its source is shared with another branch of tee()',
      pages: () => ({
        [Symbol.asyncIterator]: () => ({
          async next() {
            const page = await next();
            return page === null ? { done: true, value: undefined } : { done: false, value: page };
          },
          async return() {
            await leave();
            return { done: true, value: undefined };
          },
        }),
      }),
    };
  }

  #move(): void {
    if (this.#isPulling || ![...this.#live].every(({ waiting }) => waiting !== null)) return;
    this.#isPulling = true;
    this.#inlet ??= openSource(this.#source, null);
    this.#inlet.next().then(
      (packet) => this.#give(({ resolve }) => resolve(packet && { items: packet.items, checkpoint: null })),
      (error: unknown) => this.#give(({ reject }) => reject(error)),
    );
  }

  #give(to: (waiting: NonNullable<Branch<T>['waiting']>) => void): void {
    this.#isPulling = false;
    for (const branch of this.#live) {
      const { waiting } = branch;
      branch.waiting = null;
      if (waiting !== null) to(waiting);
    }
  }

  async #leave(branch: Branch<T>): Promise<void> {
    this.#live.delete(branch);
    branch.waiting?.resolve(null);
    if (this.#live.size > 0) this.#move();
    else await this.#inlet?.close();
  }
}
