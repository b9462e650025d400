import { StreamError } from '../errors.ts';
import type { Range, Stretch } from '../proof.ts';
import { type Answer, type Item, type Limits, Misplaced } from './list.ts';

// What may follow the answers for a piece of a list, and what may not. This is part of the proof:
// whatever is chosen among what is allowed, no item is lost, none comes twice, and nothing is called
// proved that is not. What is best among it is for choose.ts to say.
//
// A piece is proved by one answer that holds as many items as its total says, each once. Pages of a
// piece prove it together only where it cannot be cut: between two requests, one call can come and
// another one go. Pieces are closed ranges that share their borders, so that nothing falls between
// two of them, however the server reads fractions of seconds or a repeated hour.

/**
 * Times that a piece, or a page, is asked for. Where every second answer of a server is wrong, one
 * piece of 32 is not proved.
 */
export const mostTries = 5;
/** Answers with items that lie nowhere near the range: one may be a mistake, three are a habit. */
const mostOutside = 3;

/**
 * What the first page of a piece is. `complete`: it has at least as many items as its total.
 * `full`: the piece has more. `outside`: it has items that lie nowhere near the piece.
 * `untotalled`: it has no total, or goes on by cursors.
 */
export type Judgement = 'complete' | 'full' | 'outside' | 'untotalled';

export function judge(
  { items, total, next }: Answer<Item>,
  range: Range,
  { stray }: Pick<Limits, 'stray'>,
): Judgement {
  const from = (range.from ?? Number.NEGATIVE_INFINITY) - stray;
  const to = (range.to ?? Number.POSITIVE_INFINITY) + stray;
  if (items.some(({ at }) => at < from || at > to)) return 'outside';
  const isEnd = next === undefined || next === null;

  // Some servers say nothing of a list that is empty.
  if (total === null && items.length === 0 && isEnd) return 'complete';
  if (total === null || (!isEnd && items.length < total)) return 'untotalled';
  return items.length < total ? 'full' : 'complete';
}

/** One time that a piece was asked for: its first page, and those that followed. */
export interface Try<I extends Item> {
  /** What the first page was; `misplaced`: not what was asked for. */
  readonly judgement: Judgement | 'misplaced';
  readonly first: Answer<I> | Misplaced;
  /** Pages that came after the first. */
  readonly further: number;
  /** The items of the page that came last. */
  readonly page: readonly I[];
  /** Items, each as it came last. */
  readonly items: ReadonlyMap<string, I>;
  /** Items that came, those that came twice included. */
  readonly got: number;
  /** Ids that came twice. */
  readonly twice: readonly string[];
  /** The last page had as many items as were asked for: there may be more, whatever the total. */
  readonly isFull: boolean;
  /** Pages after the first have brought something. */
  readonly isContinued: boolean;
  /** All pages have named the same total. */
  readonly isSteady: boolean;
  /** No further page says anything. */
  readonly isEnded: boolean;
}

/** A try of which the first page came. */
export function begun<I extends Item>(
  answer: Answer<I> | Misplaced,
  range: Range,
  limits: Pick<Limits, 'rows' | 'stray'>,
): Try<I> {
  const isMisplaced = answer instanceof Misplaced;
  const page = isMisplaced ? [] : answer.items;
  const judgement = isMisplaced ? 'misplaced' : judge(answer, range, limits);
  const items = new Map<string, I>();
  const twice: string[] = [];
  for (const item of page) {
    if (items.has(item.id)) twice.push(item.id);
    items.set(item.id, item);
  }
  return {
    judgement,
    first: answer,
    further: 0,
    page,
    items,
    got: page.length,
    twice,
    isFull: page.length >= limits.rows,
    isContinued: false,
    isSteady: !isMisplaced,
    isEnded: page.length === 0,
  };
}

/** The try with one more page. It takes the items of the try that it was. */
export function continued<I extends Item>(
  before: Try<I>,
  answer: Answer<I> | Misplaced,
  range: Range,
  limits: Limits,
): Try<I> {
  const { first } = before;
  if (first instanceof Misplaced) return before;
  if (answer instanceof Misplaced) return { ...before, isSteady: false, isEnded: true };
  if (judge(answer, range, limits) === 'outside') return { ...before, judgement: 'outside' };
  const items = before.items as Map<string, I>;
  const known = items.size;
  const twice = [...before.twice];
  for (const item of answer.items) {
    if (items.has(item.id)) twice.push(item.id);
    items.set(item.id, item);
  }
  const isFresh = items.size > known;
  return {
    ...before,
    further: before.further + 1,
    page: answer.items,
    items,
    got: before.got + answer.items.length,
    twice,
    isFull: answer.items.length >= rowsOf(first, limits),
    isContinued: before.isContinued || isFresh,
    isSteady: before.isSteady && (answer.total === first.total || answer.items.length === 0),
    isEnded: !isFresh,
  };
}

/** A server that gives more rows than it was asked for still counts its pages by those. */
const rowsOf = ({ items }: Answer<Item>, { rows }: Pick<Limits, 'rows'>): number =>
  Math.min(items.length, rows);

/** What came of a piece, each item once. */
export interface Found<I extends Item> extends Pick<Stretch, 'is' | 'why' | 'missing' | 'sids'> {
  readonly items: readonly I[];
  readonly total: number | null;
  /** Not one answer was what was asked for: why. */
  readonly refusal?: Misplaced;
}

/** A part of a page that is proved by the rest of its piece: it has all others. */
export interface Keeping<I extends Item> {
  /** What is kept. */
  readonly items: readonly I[];
  /** Where that ends, or begins when the newest come first. */
  readonly end: number;
  /** The oldest come first. */
  readonly isUp: boolean;
  /** How many the rest has to have. */
  readonly others: number;
}

/** A piece that may be cut at any place strictly inside. */
export interface Splitting {
  readonly range: Range;
  /** The items of its first page, and how many the piece has. */
  readonly items: readonly Item[];
  readonly total: number;
  /** Another page has brought more, although the first one had fewer items than were asked for. */
  readonly isContinued: boolean;
}

/** What may follow. */
export interface Allowed<I extends Item> {
  /** What came is delivered, with what is proved of it. */
  readonly deliver: Found<I> | null;
  /** The piece becomes two or more. */
  readonly split: Splitting | null;
  /** A part of the page is kept, and the rest of the piece is asked for: two totals prove both. */
  readonly keep: Keeping<I> | null;
  /** The next page of this try is asked for. */
  readonly next: { readonly page: number; readonly rows: number } | null;
  /** The piece is asked for again. */
  readonly again: boolean;
  /** It is read page by page, and each page is delivered as it comes. */
  readonly pages: boolean;
}

const nothing = {
  deliver: null,
  split: null,
  keep: null,
  next: null,
  again: false,
  pages: false,
} as const;

/**
 * What may follow the tries of a piece.
 *
 * @throws StreamError `range_ignored` where its answers have nothing to do with it.
 */
export function allowed<I extends Item>(
  range: Range,
  tries: readonly Try<I>[],
  limits: Limits,
): Allowed<I> {
  const last = tries.at(-1) as Try<I>;
  const { first, items, got, isSteady, judgement } = last;
  const isSpent = tries.length >= mostTries;
  if (tries.filter((one) => one.judgement === 'outside').length >= mostOutside)
    throw new StreamError('range_ignored');
  const failed = {
    ...nothing,
    again: !isSpent,
    deliver: isSpent ? unproved(tries) : null,
  };
  if (first instanceof Misplaced || judgement === 'outside') return failed;
  if (judgement === 'untotalled') return { ...nothing, pages: true };
  const total = first.total ?? 0;
  const isPlaced = first.items.some(({ at }) => Number.isFinite(at));
  if (judgement === 'full' && first.items.length > 0 && !isPlaced)
    return { ...nothing, pages: true };

  const isWide = range.from === null || range.to === null || range.to - range.from > limits.step;
  const canSplit = limits.hasPositions !== false && isPlaced && isWide;
  const { isContinued } = last;
  const split = canSplit ? { range, items: first.items, total, isContinued } : null;
  const isWhole = canSplit && judgement === 'full' && last.further === 0;
  const keep = isWhole ? keepingOf(range, first.items, total, limits) : null;

  // After a full page that ends with the total, the server may count no further, or count a row
  // once that comes twice: the next one shows it.
  const isMore = !last.isEnded && (got < total || (last.isFull && items.size <= total));
  if (isMore && !(canSplit && isContinued)) {
    const next = { page: last.further + 1, rows: rowsOf(first, limits) };
    return { ...nothing, split, keep, next };
  }
  const isProved = isSteady && got === total && items.size === total;
  if (isProved && !(canSplit && isContinued))
    return {
      ...nothing,
      split,
      again: !isSpent,
      deliver: { items: [...items.values()], total, is: 'proved' },
    };
  if (canSplit && isContinued) return { ...nothing, split, again: !isSpent };

  // Rows that come twice, in this try and in the one before, and are counted twice, or once. In
  // several pages the first may be a page that repeats another one.
  const before = tries.slice(0, -1).findLast(isUnderstood);
  const sids = [...last.twice].sort();
  const isSame = before !== undefined && sids.join('\n') === [...before.twice].sort().join('\n');
  const areCountedTwice =
    first.items.length === total && new Set(first.items.map(({ id }) => id)).size < total;
  const areCountedOnce = isSteady && items.size === total && sids.length > 0;
  if (isSame && (areCountedTwice || areCountedOnce)) {
    const doubled = { is: 'short', why: 'doubled', missing: 0, sids } as const;
    return { ...nothing, split, deliver: { items: together(tries), total, ...doubled } };
  }

  // More than the total, and again: the server counts no further.
  if (isPassed(last) && before !== undefined && isPassed(before))
    return { ...nothing, pages: true };
  return { ...failed, split };
}

/** What an answer counts in its range; null when it does not say, or was not understood. */
export const countOf = ({ judgement, first }: Try<Item>): number | null => {
  if (first instanceof Misplaced || judgement === 'outside') return null;
  return judgement === 'complete' ? (first.total ?? 0) : first.total;
};

const isUnderstood = ({ judgement }: Try<Item>): boolean =>
  judgement === 'complete' || judgement === 'full';

const totalOf = ({ first }: Try<Item>): number =>
  first instanceof Misplaced ? 0 : (first.total ?? 0);

const isPassed = (one: Try<Item>): boolean => one.isSteady && one.items.size > totalOf(one);

/** What all tries have brought, each item once. */
function together<I extends Item>(tries: readonly Try<I>[]): I[] {
  const all = new Map<string, I>();
  for (const one of tries)
    if (isUnderstood(one)) for (const [id, item] of one.items) all.set(id, item);
  return [...all.values()];
}

/** What came of a piece that no try has proved. */
function unproved<I extends Item>(tries: readonly Try<I>[]): Found<I> {
  const last = tries.findLast(isUnderstood);
  if (last === undefined) {
    const none = { items: [], total: null, is: 'short', why: 'fewer' } as const;
    const refusal = tries.map(({ first }) => first).find((first) => first instanceof Misplaced);
    return refusal === undefined ? none : { ...none, refusal };
  }
  const items = together(tries);
  const total = totalOf(last);
  const missing = total - items.length;
  if (missing > 0) return { items, total, is: 'short', why: 'fewer', missing };
  return { items, total, is: 'unproven', why: 'unsteady' };
}

/** Whether items come in order of their positions, as numbers that rise. */
export const isRising = (ats: readonly number[]): boolean =>
  ats.every((at, i) => i === 0 || at >= (ats[i - 1] as number));

/**
 * How much of a page in order may be kept: up to the last two items that lie apart, so that the two
 * ranges have none in common, however the server reads fractions of seconds.
 */
function keepingOf<I extends Item>(
  range: Range,
  items: readonly I[],
  total: number,
  { step }: Limits,
): Keeping<I> | null {
  const ats = items.map(({ at }) => at);
  const lowest = range.from ?? Number.NEGATIVE_INFINITY;
  const highest = range.to ?? Number.POSITIVE_INFINITY;
  const isUp = isRising(ats);
  if (!ats.every((at) => at >= lowest && at <= highest) || isUp === isRising(ats.toReversed()))
    return null;
  const last = ats.findLastIndex((at, i) => Math.abs((ats[i + 1] ?? at) - at) > step);
  const end = Math.min(ats[last] ?? Number.NaN, ats[last + 1] ?? Number.NaN) + step;
  if (!(end > lowest && end < highest)) return null;
  const kept = items.slice(0, last + 1);
  return { items: kept, end, isUp, others: total - kept.length };
}
