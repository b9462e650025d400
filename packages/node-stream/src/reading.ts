import type { CopyScope } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { checkCheckpoint, checkpointOf } from './checkpoint.ts';
import type { Checkpoint, Page } from './page.ts';
import {
  add,
  bounded,
  deliveredOf,
  missing,
  type Note,
  type Position,
  type ReadState,
  recount,
  type Span,
  type Stretch,
  type Verdict,
  verdictOf,
  withLost,
} from './proof.ts';
import type { Item, ListSource, SliceOptions } from './reader/list.ts';
import { type Slice, slices } from './reader/slices.ts';

/** How far a read has come. */
export interface Progress {
  /** Calls that were delivered, also by earlier runs. */
  readonly done: number;
  /** Calls of the query by the first answer; null when it gave no total. */
  readonly total: number | null;
  /** Calls a second of this run. */
  readonly rate: number;
}

/**
 * The items of a slice as they are delivered, each made when it is taken: what is held as bytes is
 * collected cheaply.
 */
export interface Taking<T> {
  /** The next one; undefined at the end. */
  next(): T | undefined;
  /** So many could not be read, and were left out. */
  readonly left: number;
}

export function takingOf<T>(items: readonly T[]): Taking<T> {
  const walk = items.values();
  return { left: 0, next: () => walk.next().value };
}

export function allOf<T>(taking: Taking<T>): T[] {
  const items: T[] = [];
  for (let item = taking.next(); item !== undefined; item = taking.next()) items.push(item);
  return items;
}

/** What is read, and how. `R` is an item as it comes, `T` as it is delivered. */
export interface ReadingOptions<R extends Item, T, P extends Position>
  extends Omit<
    SliceOptions,
    'until' | 'stop' | 'from' | 'pace' | 'most' | 'others' | 'keepsArrived'
  > {
  readonly source: ListSource<R> & { account?: string | null; only?: readonly CopyScope[] };
  /** What is read, for checkpoints. */
  readonly of: string;
  readonly asked: Span<P>;
  /** Positions and numbers. */
  read(position: P): number;
  spanOf(span: Span<number>): Span<P>;
  /** Calls after this still appear: they are not counted at the end. Null: none do. */
  readonly until: P | null;
  take(items: readonly R[]): Taking<T>;
  /** How many items a range has; null when the server does not say. */
  count(range: Span<P>, signal: AbortSignal): Promise<number | null>;
  readonly checkpoint: Checkpoint | null;
  readonly signal: AbortSignal | null;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

const notRead =
  'Nothing reads this stream, so there is no verdict. Read it first: with `for await`, `pages()`, `pipeline` or `into`.';

/** A verdict. Awaiting that of a read which nothing reads rejects, instead of waiting for good. */
class Outcome<V> extends Promise<V> {
  isRead: () => boolean = () => true;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: the way of `await` to a subclass of Promise.
  override then<A = V, B = never>(
    done?: ((value: V) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    if (this.isRead()) return super.then(done, failed);
    return new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => {
        if (!this.isRead()) throw new ConfigurationError('invalid_option', notRead);
        return super.then();
      })
      .then(done as (value: unknown) => A, failed);
  }
}

/** Stretches of a checkpoint: neighbors that are proved are joined, so that it stays small. */
const mostStretches = 64;

/** One read of a list, from begin to end, with what it proves. */
export class Reading<R extends Item, T, P extends Position> {
  readonly verdict: Promise<Verdict<P>>;
  readonly options: ReadingOptions<R, T, P>;
  readonly #stop = new AbortController();
  #state: ReadState<P> = startState;
  #place: Place;
  #isBegun = false;
  #isOver = false;
  #began = 0;
  #before = 0;
  #isResumed = false;
  #slicesRead = 0;
  #outcome: { resolve(verdict: Verdict<P>): void; reject(error: unknown): void } | null = null;

  constructor(options: ReadingOptions<R, T, P>) {
    this.options = options;
    this.#place = placeOf(options.of, startState, options.checkpoint);
    const verdict = new Outcome<Verdict<P>>((resolve, reject) => {
      this.#outcome = { resolve, reject };
    });

    // Whoever reads gets the error, too.
    verdict.catch(() => {});
    verdict.isRead = () => this.#isBegun || this.#isOver;
    this.verdict = verdict;
    options.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Where to go on: after the last page of which everything was taken. */
  get place(): Place {
    return this.#place;
  }

  /** Whole pages. One counts as delivered when it is handed over. */
  async *pages(from: Checkpoint | null = null): AsyncGenerator<Page<T>, void, void> {
    const { of, spanOf, take } = this.options;
    for await (const slice of this.#slices(from)) {
      const taking = take(slice.items);
      const items = this.#orFail(() => allOf(taking));
      const span: Span<Position> = spanOf(slice);
      const place = placeOf(of, this.#commit(slice, taking.left));
      yield {
        items,
        // Numbers are no times.
        range: [span.from, span.to].some(Number.isFinite) ? null : (span as Span),
        get checkpoint() {
          return place.checkpoint;
        },
      };
      this.#place = place;
    }
  }

  /**
   * The same for items that are taken one by one: those of a slice count as delivered when the next
   * slice is asked for.
   */
  async *portions(): AsyncGenerator<Taking<T>, void, void> {
    for await (const slice of this.#slices(null)) {
      const taking = this.options.take(slice.items);
      yield { next: () => this.#orFail(() => taking.next()), left: 0 };
      this.#place = placeOf(this.options.of, this.#commit(slice, taking.left));
    }
  }

  /** An item that cannot be read ends the read. */
  #orFail<V>(take: () => V): V {
    try {
      return take();
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    this.#outcome?.reject(error);
    this.#stop.abort();
  }

  async *#slices(from: Checkpoint | null): AsyncGenerator<Slice<R>, void, void> {
    const { asked, checkpoint, read, signal, source, until } = this.options;
    this.#isBegun = true;
    try {
      signal?.throwIfAborted();
      this.#resume(from ?? checkpoint);
      const { border, pages, pagesTo = null, stretches } = this.#state;
      const unread = missing(stretches, asked);
      const [next] = unread;

      // A range that an earlier run has read pages of is gone on with as it was.
      if (next !== undefined && pagesTo !== null && pagesTo !== next.to)
        unread.splice(0, 1, { from: next.from, to: pagesTo }, { from: pagesTo, to: next.to });
      const spans = unread.map(({ from, to }) => ({
        from: from === null ? null : read(from),
        to: to === null ? null : read(to),
      }));
      yield* slices(source, spans, {
        pace: null,
        most: Number.POSITIVE_INFINITY,
        others: null,
        keepsArrived: false,
        ...this.options,
        until: until === null ? null : read(until),
        stop: this.#stop,
        from: this.#isResumed ? { border, pages } : null,
      });
      this.#end(await this.#conclude());
    } catch (error) {
      this.#fail(error);
      throw error;
    } finally {
      this.stop();
    }
  }

  /** Ends the requests in flight, and the read, unless it has ended. */
  stop(reason?: unknown): void {
    this.options.signal?.removeEventListener('abort', this.#abort);
    this.#stop.abort(reason);
    if (!this.#isOver) this.#end(this.#verdict());
  }

  readonly #abort = (): void => this.stop(this.options.signal?.reason);

  #end(verdict: Verdict<P>): void {
    this.#isOver = true;
    this.#outcome?.resolve(verdict);
  }

  #resume(checkpoint: Checkpoint | null): void {
    const { of, source } = this.options;
    this.#began = Date.now();
    if (checkpoint === null) return;
    this.#state = checkCheckpoint(checkpoint, of).read as ReadState<P>;
    this.#place = placeOf(of, this.#state, checkpoint);
    if (this.#state.account !== null) source.account = this.#state.account;
    this.#isResumed = true;
    this.#before = deliveredOf(this.#verdict());
  }

  /** A slice was delivered: what is known now. */
  #commit(slice: Slice<R>, left: number): ReadState<P> {
    const { spanOf, source, until } = this.options;
    const before = this.#state;
    const all = left + (before.pages?.left ?? 0);
    const stretches = withLost(slice.stretches ?? [], all).map(
      (stretch): Stretch<P> => ({ ...stretch, ...spanOf(stretch) }),
    );
    this.#state = {
      stretches: bounded(
        stretches.reduce<readonly Stretch<P>[]>(add, before.stretches),
        mostStretches,
        (border) => border === until,
      ),
      border: slice.border,
      pages: slice.pages === null ? null : { ...slice.pages, left: all },
      pagesTo: slice.pages === null ? null : spanOf(slice).to,
      first: this.#isResumed ? before.first : slice.first,
      account: source.account ?? null,
    };
    this.#slicesRead += 1;
    this.#report();
    return this.#state;
  }

  /** Counts what was read once more, where that says anything new, and tells what is proved. */
  async #conclude(): Promise<Verdict<P>> {
    const { until, rows, count } = this.options;
    const { stretches } = this.#state;
    const young: Note<P>[] = [];

    // One answer that held everything is a count of everything.
    if (this.#slicesRead !== 1 || this.#isResumed) {
      const isDue = ({ to }: Stretch<P>): boolean => to !== null && (until === null || to <= until);
      const counted = await recount(stretches, { isDue, rows, seen: { at: Date.now() } }, (range) =>
        count(range, this.#stop.signal),
      );
      this.#state = { ...this.#state, stretches: counted };
      this.#place = placeOf(this.options.of, this.#state);
      const first = counted.find(({ is, at }) => is === 'proved' && at === null);
      if (first !== undefined) young.push({ code: 'young', from: first.from });
    }

    return this.#verdict(young);
  }

  #verdict(young: readonly Note<P>[] = []): Verdict<P> {
    const { stretches, first } = this.#state;
    const verdict = verdictOf(stretches, this.options.asked, { first, notes: young });
    const { only = [] } = this.options.source;
    return only.length === 0 ? verdict : { ...verdict, only };
  }

  #report(): void {
    const { first: total, stretches } = this.#state;
    const done = stretches.reduce((sum, { calls }) => sum + calls, 0);
    const rate = rateOf(done - this.#before, Date.now() - this.#began);
    this.#orFail(() => this.options.onProgress?.({ done, total, rate }));
  }
}

/** Calls a second. */
export const rateOf = (calls: number, millis: number): number =>
  (calls * 1000) / Math.max(1, millis);

const startState: ReadState<never> = {
  stretches: [],
  border: [],
  first: null,
  pages: null,
  account: null,
};

/** Where a read may go on. Its checkpoint is made when it is asked for. */
export type Place = Pick<Page<unknown>, 'checkpoint'>;

function placeOf(of: string, state: ReadState<Position>, made: Checkpoint | null = null): Place {
  let checkpoint = made;
  return {
    get checkpoint() {
      checkpoint ??= checkpointOf(of, state);
      return checkpoint;
    },
  };
}
