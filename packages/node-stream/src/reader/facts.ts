import type { Range } from '../proof.ts';
import { isRising, type Try } from './allowed.ts';
import { type Density, type Item, Misplaced, type SliceOptions } from './list.ts';

// What answers have shown of a list and its server. Only choose.ts reads it, so that a wrong fact
// costs requests and nothing else.

/** What is known of a list and its server. */
export interface Facts {
  /** Null before any answer has shown it: the list may begin and end anywhere. */
  readonly density: Density | null;
  /**
   * Items that a page holds: fewer than were asked for, once the server has shown that it gives no
   * more.
   */
  readonly size: number;
  /** Items of the last page that held fewer than that, and not all. */
  readonly short: number;
  /** Items that an open end still holds. */
  readonly left: number;
  /** Cuts around a page of one position since something new was delivered. */
  readonly peels: number;
  /** The list has shown that it is in no order. */
  readonly isMixed: boolean;
  /** Where the list was seen last, it held nothing. */
  readonly isQuiet: boolean;
  /** Requests that were answered. */
  readonly answers: number;
  /** Items of pieces that one answer held: what those answers have brought. */
  readonly fitting: number;
}

/** What is known before the first request. */
export function factsBefore({ rows, pace }: Pick<SliceOptions, 'rows' | 'pace'>): Facts {
  return {
    density: pace === null ? null : { items: pace.items, width: pace.width },
    size: Math.min(pace?.size ?? rows, rows),
    short: 0,
    left: pace?.left ?? 0,
    peels: 0,
    isMixed: false,
    isQuiet: false,
    answers: 0,
    fitting: 0,
  };
}

/** What is known after one more answer: `one` is the try of a piece that it belongs to. */
export function learn(
  facts: Facts,
  range: Range,
  one: Try<Item>,
  { rows, step }: Pick<SliceOptions, 'rows' | 'step'>,
): Facts {
  const { first, judgement, further, isContinued } = one;
  if (first instanceof Misplaced) return facts;
  const { items, total } = first;
  const count = items.length;
  if (judgement === 'complete' && further === 0)
    return {
      ...facts,
      ...seenIn(facts, range, count),
      fitting: facts.fitting + count,
      size: Math.max(facts.size, Math.min(count, rows)),
    };
  if (judgement !== 'full' && judgement !== 'complete') return facts;

  // When it gives as few twice although there are more, it never gives more. A range of one position
  // may have no more, whatever its total says.
  const isWide = range.from === null || range.to === null || range.to - range.from > step;
  const isPage = isWide && ((total ?? 0) > rows || (further === 1 && isContinued));
  if (further > 0 && !isPage) return facts;
  const grown = Math.max(facts.size, Math.min(count, rows));
  const size = isPage && count === facts.short ? count : grown;
  const short = isPage && count < size ? count : facts.short;
  return { ...facts, size, short, isMixed: facts.isMixed || isInNoOrder(range, items) };
}

function isInNoOrder({ from, to }: Range, items: readonly Item[]): boolean {
  const ats = items.map(({ at }) => at);
  const isInside = ats.every(
    (at) => at >= (from ?? Number.NEGATIVE_INFINITY) && at <= (to ?? Number.POSITIVE_INFINITY),
  );
  return isInside && !isRising(ats) && !isRising(ats.toReversed());
}

/** What is known where so many items were seen in a range. */
export function seenIn(
  { density }: Facts,
  { from, to }: Range,
  count: number,
): Pick<Facts, 'isQuiet' | 'density'> {
  const isQuiet = count === 0;
  if (from === null || to === null) return { isQuiet, density };
  return { isQuiet, density: denser(density, count, to - from) };
}

/**
 * How close items lie after one more range. What came before counts half, or not at all where the
 * range is quite different.
 */
function denser(before: Density | null, count: number, width: number): Density {
  const items = Math.max(count, 1);
  const isEven =
    before !== null &&
    count * before.width < 2 * before.items * width &&
    before.items * width < 2 * items * before.width;
  return isEven
    ? { items: count + before.items / 2, width: width + before.width / 2 }
    : { items, width };
}
