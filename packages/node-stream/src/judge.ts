import type { Span, Stretch } from './proof.ts';

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

/** A list that can be asked for a range. It throws `Misplaced` when an answer was not the page that was asked for. */
export interface Asked<T> {
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

/**
 * What an answer for a range is. `complete`: it has at least as many items as its total. `full`: the range has more. `outside`: it has items
 * that lie nowhere near the range. `untotalled`: it has no total, or goes on by cursors.
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

/** What a range that was read page by page is. */
export function pagedStretch(
  { from, to }: Span<number>,
  {
    total,
    got,
    calls,
    shared,
    isProvable,
  }: { total: number | null; got: number; calls: number; shared: number; isProvable: boolean },
): Stretch<number> {
  const stretch = { from, to, counted: total, shared, calls, at: null };
  if (isProvable && got === total && calls + shared === total) return { ...stretch, is: 'proved' };
  if (total === null || !isProvable)
    return { ...stretch, is: 'unproven', why: total === null ? 'no_total' : 'unsteady' };
  if (calls + shared < total)
    return { ...stretch, is: 'short', why: 'fewer', missing: total - calls - shared };
  return { ...stretch, is: 'unproven', why: 'unsteady' };
}
