import type { CopyScope } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { checkCheckpoint, checkpointOf } from './checkpoint.ts';
import type { Checkpoint, Page } from './page.ts';
import {
  add,
  bounded,
  missing,
  type Range,
  type ReadState,
  recount,
  type Stretch,
  verdictOf,
  withLost,
} from './proof.ts';
import type { Item, ListSource, ReadOptions } from './reader/list.ts';
import { type Slice, slices } from './reader/slices.ts';
import { deliveredOf, type Note, type Position, type Span, type Verdict } from './verdict.ts';

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
 * collected cheaply. Returns how many could not be read, and were left out.
 */
export type Taking<T> = Generator<T, number, void>;

/** What is read, and how. `R` is an item as it comes, `T` as it is delivered. */
export interface ReadingOptions<R extends Item, T> extends ReadOptions {
  readonly source: ListSource<R> & { account?: string | null; only?: readonly CopyScope[] };
  /** What is read, for checkpoints. */
  readonly of: string;
  readonly asked: Range;
  /** What a range is called where positions are times; null where they are not. */
  readonly spanOf: ((range: Range) => Span) | null;
  take(slice: Slice<R>): Taking<T>;
  /** How many items a range has; null when the server does not say. */
  count(range: Range, signal: AbortSignal): Promise<number | null>;
  readonly checkpoint: Checkpoint | null;
  readonly signal: AbortSignal | null;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** Stretches of a checkpoint: neighbors that are proved are joined, so that it stays small. */
const mostStretches = 64;

/** How far a read has come. `ended`: it was counted at the end, where that says anything. */
type Phase = 'unread' | 'reading' | 'left' | 'failed' | 'ended';

/** Items that are delivered together. */
export interface DeliveredSlice<T> {
  /** Where they lie; null where positions are no times. */
  readonly range: Span | null;
  /** They count as delivered when the next slice is asked for, if all of them were taken. */
  readonly items: Generator<T, void, void>;
}

/** One read of a list, from begin to end, with what it proves. */
export class Reading<R extends Item, T> {
  readonly options: ReadingOptions<R, T>;
  readonly #stop = new AbortController();
  #state: ReadState = startState;
  #place: Place;
  #phase: Phase = 'unread';
  #failure: unknown;
  /** Where what is too young to be counted begins. */
  #young: Note<number>[] = [];

  constructor(options: ReadingOptions<R, T>) {
    this.options = options;
    this.#place = this.#placeOf(options.checkpoint);
    options.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Where to go on: after the last slice of which everything was taken. */
  get place(): Place {
    return this.#place;
  }

  /**
   * What is proved so far. It says `whole` only when the read has come to its end, and is final
   * then.
   */
  verdict(): Verdict<number> {
    // A server that serves a copy which was filled with a filter says so with its answers.
    const { only = [] } = this.options.source;
    return { ...this.#proved(), only };
  }

  #proved(): Verdict<number> {
    const { stretches, first } = this.#state;
    const { asked } = this.options;
    const verdict = verdictOf(stretches, asked, { first, notes: this.#young });
    if (this.#phase === 'ended') return verdict;
    const failed = this.#phase === 'failed' ? { failure: reasonOf(this.#failure) } : {};
    if (verdict.proof !== 'whole') return { ...verdict, ...failed };

    // All that was asked for came, and was not counted once more.
    const uncounted = stretches.map((one): Stretch => {
      return one.is === 'proved' ? { ...one, is: 'unproven', why: 'uncounted' } : one;
    });
    return { ...verdictOf(uncounted, asked, { first }), ...failed };
  }

  /** Whole pages. */
  async *pages(from: Checkpoint | null = null): AsyncGenerator<Page<T>, void, void> {
    for await (const { range, items } of this.slices(from)) {
      const all = [...items];
      const place = this.#placeOf();
      yield {
        items: all,
        range,
        get checkpoint() {
          return place.checkpoint;
        },
      };
    }
  }

  /** What is read, slice by slice. */
  async *slices(from: Checkpoint | null = null): AsyncGenerator<DeliveredSlice<T>, void, void> {
    const { asked, checkpoint, signal, source, spanOf } = this.options;
    this.#phase = 'reading';
    try {
      signal?.throwIfAborted();
      const begun = from ?? checkpoint;
      const isResumed = begun !== null;
      if (isResumed) this.#resume(begun);
      const { border, pages, pagesTo, stretches } = this.#state;
      const unread = missing(stretches, asked);
      const [next] = unread;

      // A range that an earlier run has read pages of is gone on with as it was.
      if (next !== undefined && pagesTo !== null && pagesTo !== next.to)
        unread.splice(0, 1, { from: next.from, to: pagesTo }, { from: pagesTo, to: next.to });
      const all = slices(source, unread, {
        pace: null,
        most: Number.POSITIVE_INFINITY,
        others: null,
        keepsArrived: false,
        ...this.options,
        stop: this.#stop,
        from: isResumed ? { border, pages } : null,
      });
      let count = 0;
      const before = deliveredOf(this.verdict());
      const began = Date.now();
      for await (const slice of all) {
        count += 1;
        const items = this.#items(slice, { isResumed, before, began });
        yield { range: spanOf?.(slice) ?? null, items };
        this.#place = this.#placeOf();
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

  /** The items of a slice, which is known once all of them were taken. */
  *#items(slice: Slice<R>, run: Run): Generator<T, void, void> {
    try {
      const left = yield* this.options.take(slice);
      this.#commit(slice, left, run);
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

  /** Ends the requests in flight, and the read, unless it has ended. */
  stop(reason?: unknown): void {
    this.options.signal?.removeEventListener('abort', this.#abort);
    this.#stop.abort(reason);
    if (this.#phase === 'reading') this.#phase = 'left';
  }

  readonly #abort = (): void => this.stop(this.options.signal?.reason);

  /** A slice was delivered: what is known now. */
  #commit(slice: Slice<R>, left: number, { isResumed, before, began }: Run): void {
    const { source, until, onProgress } = this.options;
    const state = this.#state;
    const all = left + (state.pages?.left ?? 0);
    const known = withLost(slice.stretches ?? [], all).reduce(add, state.stretches);
    const first = isResumed ? state.first : slice.first;
    this.#state = {
      stretches: bounded(known, mostStretches, (border) => border === until),
      border: slice.border,
      pages: slice.pages && { ...slice.pages, left: all },
      pagesTo: slice.pages && slice.to,
      first,
      account: source.account ?? null,
    };
    const done = this.#state.stretches.reduce((sum, { calls }) => sum + calls, 0);
    onProgress?.({ done, total: first, rate: rateOf(done - before, Date.now() - began) });
  }

  /** Counts what was read once more. */
  async #recount(): Promise<void> {
    const { until, rows, count } = this.options;
    const isDue = ({ to }: Stretch): boolean => to !== null && (until === null || to <= until);
    const seen = { at: Date.now() };
    const counted = await recount(this.#state.stretches, { isDue, rows, seen }, (range) =>
      count(range, this.#stop.signal),
    );
    this.#state = { ...this.#state, stretches: counted };
    this.#place = this.#placeOf();
    const first = counted.find(({ is, at }) => is === 'proved' && at === null);
    if (first !== undefined) this.#young = [{ code: 'young', from: first.from }];
  }

  #resume(checkpoint: Checkpoint): void {
    const { of, source } = this.options;
    const saved = checkCheckpoint(checkpoint, of).read as SavedState;
    const stretches = saved.stretches.map(({ from, to, ...one }) => {
      return { from: numberOf(from), to: numberOf(to), ...one };
    });
    this.#state = { ...saved, stretches, pagesTo: numberOf(saved.pagesTo ?? null) };
    this.#place = this.#placeOf(checkpoint);
    if (saved.account !== null) source.account = saved.account;
  }

  /** Where to go on now. The checkpoint is made when it is asked for. */
  #placeOf(made: Checkpoint | null = null): Place {
    const { of, spanOf } = this.options;
    const state = this.#state;
    let checkpoint = made;
    return {
      get checkpoint() {
        checkpoint ??= checkpointOf(of, savedOf(state, spanOf));
        return checkpoint;
      },
    };
  }
}

/** What the slices of one run have in common. */
interface Run {
  readonly isResumed: boolean;
  /** Items that earlier runs have delivered. */
  readonly before: number;
  /** When it began, in milliseconds. */
  readonly began: number;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : `${error}`);

/** Calls a second. */
export const rateOf = (calls: number, millis: number): number =>
  (calls * 1000) / Math.max(1, millis);

const startState: ReadState = {
  stretches: [],
  border: [],
  first: null,
  pages: null,
  pagesTo: null,
  account: null,
};

/** Where a read may go on. */
export type Place = Pick<Page<unknown>, 'checkpoint'>;

/** What a checkpoint keeps: positions are times, where there are any. */
interface SavedState extends Pick<ReadState, 'border' | 'first' | 'pages' | 'account'> {
  readonly stretches: readonly (Omit<Stretch, keyof Range> & Span<Position>)[];
  readonly pagesTo?: Position | null;
}

function savedOf(state: ReadState, spanOf: ((range: Range) => Span) | null): SavedState {
  if (spanOf === null) return state;
  return {
    ...state,
    stretches: state.stretches.map((one) => ({ ...one, ...spanOf(one) })),
    pagesTo: spanOf({ from: null, to: state.pagesTo }).to,
  };
}

const numberOf = (position: Position | null): number | null =>
  typeof position === 'string' ? parseNaive(position) : position;
