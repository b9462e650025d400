import type { IdSet } from './ids.ts';
import type { ReadState, Span, Stretch } from './proof.ts';

/** What a range is asked for. */
export interface Ask {
  readonly range: Span<number>;
  /** Page of the range, from 0. */
  readonly page: number;
  readonly rows: number;
  /** `next` of the page before, where the list goes on by that. */
  readonly after: string | number | null;
  readonly signal: AbortSignal;
}

/**
 * A list that can be asked for a range. It throws `Misplaced` when an answer was not the page that
 * was asked for.
 */
export interface ListSource<T> {
  ask(request: Ask): Promise<Answer<T>>;
}

/** An answer of a list: what is asked of its items before any of them is delivered. */
export interface Answer<T> {
  /** What tells each item from all others, in the order of the answer. */
  readonly ids: readonly string[];
  /** Where each of them lies; NaN when it does not say. */
  readonly ats: readonly number[];
  /** Items of the whole range; null when the server does not say. */
  readonly total: number | null;
  /** What asks for the next page, where the list goes on by that; null at its end. */
  readonly next?: string | number | null | undefined;
  /** One item. */
  item(index: number): T;
}

/** What a reader knows of its server. */
export interface Limits {
  /** Items of a page, as they are asked for. */
  readonly rows: number;
  /** How far outside a range an item may lie: a clock change of the server moves it there. */
  readonly stray: number;
}

/** How a list is read. */
export interface SliceOptions extends Limits {
  /** The smallest difference of two positions. No range is narrower. */
  readonly step: number;
  /** Slices that are asked for at the same time. */
  readonly ahead: number;
  /**
   * Stretches end here, so that what lies before can be counted by itself; null when they need not.
   */
  readonly until: number | null;
  /** Whether the items have positions; without, the list is one range. */
  readonly hasPositions?: boolean;
  /** Ends the requests in flight. */
  readonly stop: AbortController;
  /** Where an earlier read stopped. */
  readonly from: Pick<ReadState<number>, 'border' | 'pages'> | null;
  /** What a slice of an earlier read has shown, where this one goes on. */
  readonly pace: Pace | null;
  /** Slices after which no more is asked for; `Infinity` when all are. */
  readonly most: number;
  /** Ids that other ranges of the same list have brought. */
  readonly others: IdSet | null;
  /**
   * A read that ends by an error first delivers all that has arrived, also what does not come next.
   */
  readonly keepsArrived: boolean;
}

/** How close items lie, so that the next slices can be planned. */
export interface Pace {
  /** Items of a range. */
  readonly items: number;
  /** The width of that range. */
  readonly width: number;
  /** Items that a page holds. */
  readonly size: number;
  /** Items that an open end still holds, as far as answers have shown that. */
  readonly left: number;
}

/**
 * What an answer for a range is. `complete`: it has at least as many items as its total. `full`:
 * the range has more. `outside`: it has items that lie nowhere near the range. `untotalled`: it has
 * no total, or goes on by cursors.
 */
export type Judgement = 'complete' | 'full' | 'outside' | 'untotalled';

/** Judges the first page of a range. */
export function judge<T>(
  { ids, ats, total, next }: Answer<T>,
  range: Span<number>,
  limits: Limits,
): Judgement {
  const from = (range.from ?? Number.NEGATIVE_INFINITY) - limits.stray;
  const to = (range.to ?? Number.POSITIVE_INFINITY) + limits.stray;
  if (ats.some((at) => at < from || at > to)) return 'outside';
  const isEnd = next === undefined || next === null;

  // Some servers say nothing of a list that is empty.
  if (total === null && ids.length === 0 && isEnd) return 'complete';
  if (total === null || (!isEnd && ids.length < total)) return 'untotalled';
  return ids.length < total ? 'full' : 'complete';
}

/** Whether items come in order of their positions. */
export function isRising(ats: readonly number[]): boolean {
  return ats.every((at, i) => i === 0 || at >= (ats[i - 1] as number));
}

/**
 * The pace after one more slice. What came before counts half, or not at all where the slice is
 * quite different.
 */
export function paceAfter(
  before: Pick<Pace, 'items' | 'width'> | null,
  count: number,
  width: number,
): Pick<Pace, 'items' | 'width'> {
  const items = Math.max(count, 1);
  const isEven =
    before !== null &&
    count * before.width < 2 * before.items * width &&
    before.items * width < 2 * items * before.width;
  return isEven
    ? { items: count + before.items / 2, width: width + before.width / 2 }
    : { items, width };
}

/**
 * A proved stretch in two, where the time lies in it up to which calls are counted at the end, and
 * no item lies at that time.
 */
export function splitAt(
  { until, step }: Pick<SliceOptions, 'until' | 'step'>,
  whole: Stretch<number>,
  ats: readonly number[],
  fresh: readonly number[],
): Stretch<number>[] {
  const isInside =
    until !== null &&
    (whole.from === null || whole.from < until) &&
    (whole.to === null || until < whole.to) &&
    whole.is === 'proved';
  if (!isInside || ats.some((at) => !(Math.abs(at - until) >= step))) return [whole];
  const counted = ats.filter((at) => at < until).length;
  const calls = fresh.filter((at) => at < until).length;
  return [
    { ...whole, to: until, counted, calls },
    { ...whole, from: until, counted: ats.length - counted, calls: whole.calls - calls, shared: 0 },
  ];
}
