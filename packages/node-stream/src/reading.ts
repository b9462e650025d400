import type { CopyScope } from '@call-attribution/core';
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

/** Stretches of a checkpoint: neighbors that are proved are joined, so that it stays small. */
const mostStretches = 64;

/** How far a read has come. `ended`: it was counted at the end, where that says anything. */
type Phase = 'unread' | 'reading' | 'left' | 'failed' | 'ended';

/** One read of a list, from begin to end, with what it proves. */
export class Reading<R extends Item, T, P extends Position> {
  readonly options: ReadingOptions<R, T, P>;
  readonly #stop = new AbortController();
  #state: ReadState<P> = startState;
  #place: Place;
  #phase: Phase = 'unread';
  #failure: unknown;
  /** Where what is too young to be counted begins. */
  #young: Note<P>[] = [];

  constructor(options: ReadingOptions<R, T, P>) {
    this.options = options;
    this.#place = placeOf(options.of, startState, options.checkpoint);
    options.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Where to go on: after the last page of which everything was taken. */
  get place(): Place {
    return this.#place;
  }

  /**
   * What is proved so far. It says `whole` only when the read has come to its end, and is final
   * then.
   */
  verdict(): Verdict<P> {
    // A server that serves a copy which was filled with a filter says so with its answers.
    const { only = [] } = this.options.source;
    return { ...this.#proved(), only };
  }

  #proved(): Verdict<P> {
    const { stretches, first } = this.#state;
    const { asked } = this.options;
    const verdict = verdictOf(stretches, asked, { first, notes: this.#young });
    if (this.#phase === 'ended') return verdict;
    const failed = this.#phase === 'failed' ? { failure: reasonOf(this.#failure) } : {};
    if (verdict.proof !== 'whole') return { ...verdict, ...failed };

    // All that was asked for came, and was not counted once more.
    const uncounted = stretches.map((one): Stretch<P> => {
      return one.is === 'proved' ? { ...one, is: 'unproven', why: 'uncounted' } : one;
    });
    return { ...verdictOf(uncounted, asked, { first }), ...failed };
  }

  /** Whole pages. One counts as delivered when it is handed over. */
  async *pages(from: Checkpoint | null = null): AsyncGenerator<Page<T>, void, void> {
    const { spanOf } = this.options;
    for await (const { slice, taking, commit } of this.#slices(from)) {
      const items = this.#orFail(() => allOf(taking));
      const span: Span<Position> = spanOf(slice);
      const place = commit();
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
    for await (const { taking, commit } of this.#slices(null)) {
      yield { next: () => this.#orFail(() => taking.next()), left: 0 };
      this.#place = commit();
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
    this.#phase = 'failed';
    this.#failure = error;
    this.#stop.abort();
  }

  /** Slices, their items, and what takes them into account once they were taken. */
  async *#slices(from: Checkpoint | null): AsyncGenerator<Part<R, T>, void, void> {
    const { asked, checkpoint, read, signal, source, until, take, onProgress } = this.options;
    this.#phase = 'reading';
    try {
      signal?.throwIfAborted();
      const begun = from ?? checkpoint;
      const began = Date.now();
      const isResumed = begun !== null;
      if (isResumed) this.#resume(begun);
      const before = deliveredOf(this.verdict());
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
      let count = 0;
      const all = slices(source, spans, {
        pace: null,
        most: Number.POSITIVE_INFINITY,
        others: null,
        keepsArrived: false,
        ...this.options,
        until: until === null ? null : read(until),
        stop: this.#stop,
        from: isResumed ? { border, pages } : null,
      });
      for await (const slice of all) {
        const taking = take(slice.items);
        const commit = (): Place => {
          count += 1;
          this.#commit(slice, taking.left, isResumed);
          const { first: total, stretches: known } = this.#state;
          const done = known.reduce((sum, { calls }) => sum + calls, 0);
          const rate = rateOf(done - before, Date.now() - began);
          this.#orFail(() => onProgress?.({ done, total, rate }));
          return placeOf(this.options.of, this.#state);
        };
        yield { slice, taking, commit };
      }

      // One answer that held everything is a count of everything.
      if (count !== 1 || isResumed) await this.#recount();
      this.#phase = 'ended';
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
    if (this.#phase === 'reading') this.#phase = 'left';
  }

  readonly #abort = (): void => this.stop(this.options.signal?.reason);

  #resume(checkpoint: Checkpoint): void {
    const { of, source } = this.options;
    this.#state = checkCheckpoint(checkpoint, of).read as ReadState<P>;
    this.#place = placeOf(of, this.#state, checkpoint);
    if (this.#state.account !== null) source.account = this.#state.account;
  }

  /** A slice was delivered: what is known now. */
  #commit(slice: Slice<R>, left: number, isResumed: boolean): void {
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
      first: isResumed ? before.first : slice.first,
      account: source.account ?? null,
    };
  }

  /** Counts what was read once more. */
  async #recount(): Promise<void> {
    const { until, rows, count } = this.options;
    const isDue = ({ to }: Stretch<P>): boolean => to !== null && (until === null || to <= until);
    const seen = { at: Date.now() };
    const counted = await recount(this.#state.stretches, { isDue, rows, seen }, (range) =>
      count(range, this.#stop.signal),
    );
    this.#state = { ...this.#state, stretches: counted };
    this.#place = placeOf(this.options.of, this.#state);
    const first = counted.find(({ is, at }) => is === 'proved' && at === null);
    if (first !== undefined) this.#young = [{ code: 'young', from: first.from }];
  }
}

/** A slice as it is delivered. */
interface Part<R extends Item, T> {
  readonly slice: Slice<R>;
  readonly taking: Taking<T>;
  /** Its items were taken. Returns where to go on. */
  commit(): Place;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : `${error}`);

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
