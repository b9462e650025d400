import type { Range } from '../proof.ts';
import { type Allowed, type Found, isRising, type Keeping, type Splitting } from './allowed.ts';
import type { Facts } from './facts.ts';
import type { Density, Item, Limits } from './list.ts';

// What is best among what is allowed: the fewest requests, and several of them at a time. Nothing
// here can make a read wrong, only slow.

/** What is done next with a piece. */
export type Step<I extends Item> =
  | { readonly kind: 'deliver'; readonly found: Found<I> }
  | Split
  | { readonly kind: 'keep'; readonly keep: Keeping<I> }
  | { readonly kind: 'next'; readonly page: number; readonly rows: number }
  | { readonly kind: 'look'; readonly page: number; readonly rows: number }
  | { readonly kind: 'again' }
  | { readonly kind: 'pages' };

/** A piece is cut. */
export interface Split {
  readonly kind: 'split';
  /** Where, in order. */
  readonly places: readonly number[];
  /** Its page has shown these places. */
  readonly isShown: boolean;
  /** All items of the page lie at one position, which is cut off. */
  readonly isPeel: boolean;
  /** How close items lie in its first part; null when the page does not show that. */
  readonly density: Density | null;
  /** Items of the piece. */
  readonly total: number;
}

/** A page of a piece that was looked at to find out where its items begin. */
export interface Look {
  readonly page: number;
  /** Positions of its items. */
  readonly ats: readonly number[];
}

/**
 * Of a page, what a slice is meant to hold. Where items lie evenly, few slices hold more than a page
 * then, and each of those costs another request.
 */
const fill = 0.85;
/**
 * A piece of fewer pages is read on where a page ends, one request after the other; in one of more,
 * places are planned, so that several are read at a time. It takes some requests to find out how
 * close items lie: among sixteen, they do not show.
 */
const fewPages = 16;
/**
 * Plans may take so many requests for each page of items, in order or not, and a few besides. Where
 * items lie too unevenly for that, each cut is made where a page shows, which takes no more.
 */
const plannedPerPage = { inOrder: 1.5, mixed: 2.4 } as const;
const fewPlanned = 8;
/** In no order, a part of a piece is cut off for so many items of a page: fewer show too little. */
const itemsPerCut = 4;
/**
 * Three cuts set a position apart that holds more than a page. Where pages show nothing else, as
 * with a single item each, the newest of a list would be cut off one after the other.
 */
const mostPeels = 4;
/** A slice is at most so many times wider than the range that showed how close items lie. */
const widening = 8;
/**
 * A rest of less than a fifth of a slice is read with it: both together fill 1.2 * 0.85 of a page,
 * which is one page, but for a hundredth part.
 */
const smallRest = 0.2;

/** Whether plans have taken too many requests. */
function isWasteful({ answers, fitting, size, isMixed }: Facts): boolean {
  const perPage = plannedPerPage[isMixed ? 'mixed' : 'inOrder'];
  return answers > (perPage * fitting) / size + fewPlanned;
}

/**
 * Chooses among what is allowed: a piece that holds more than a page is kept in part or cut, even
 * where it could be read on; then what came is delivered; and only then is more of it asked for.
 *
 * @param look where the items of the piece begin, if that was asked for.
 */
export function choose<I extends Item>(
  { deliver, split, keep, next, pages }: Allowed<I>,
  facts: Facts,
  limits: Limits,
  look: Look | null = null,
): Step<I> {
  if (split !== null && isTooMuch(split, facts, limits)) {
    if (keep !== null && isWorthKeeping(keep, split, facts)) return { kind: 'keep', keep };
    return cut(split, facts, limits, look);
  }
  if (deliver !== null) return { kind: 'deliver', found: deliver };
  if (pages) return { kind: 'pages' };
  return next === null ? { kind: 'again' } : { kind: 'next', ...next };
}

/** Whether a piece holds more than one page: by its total, or since another page has brought more. */
function isTooMuch({ items, total, isContinued }: Splitting, { size }: Facts, { rows }: Limits) {
  return isContinued || (items.length < total && (total > rows || items.length >= size));
}

/** Whether the part of a page that is kept is worth the rest being asked for once more. */
function isWorthKeeping(
  { items: kept, isUp }: Keeping<Item>,
  { items, total }: Splitting,
  facts: Facts,
): boolean {
  const { size, density, isMixed } = facts;

  // The rest is read on one request after the other, so it must be short. At first it is planned:
  // several slices can be asked for at a time.
  const isShort = total < (density === null ? 2 : fewPages) * size || (isUp && isWasteful(facts));

  // For less than half of a page, a cut takes fewer requests.
  return isShort && !isMixed && items.length >= size && 2 * kept.length >= size;
}

/**
 * Where a piece is cut that holds more than a page, by what its first page shows:
 *
 * - Items outside of the piece: in the middle.
 * - One position: in front of it, then behind it. After `mostPeels` of these: as if the newest came
 *   first.
 * - The oldest first: where `fill` of the page ends; when plans take too many requests, in front of
 *   its last position.
 * - No order: the page is a sample. A piece of few pages is cut at positions of the sample, any
 *   other one half a page from the oldest of them.
 * - The newest first: in front of the page, if the piece has few pages. Otherwise a look at a later
 *   page shows where items begin, and the cut is half a page from there.
 */
function cut<I extends Item>(
  { range, items, total }: Splitting,
  facts: Facts,
  { step, stray }: Limits,
  look: Look | null,
): Step<I> {
  const size = Math.min(facts.size, items.length);
  const lowest = range.from ?? Number.NEGATIVE_INFINITY;
  const highest = range.to ?? Number.POSITIVE_INFINITY;
  const ats = items.map(({ at }) => at);
  const sorted = ats.filter(Number.isFinite).sort((a, b) => a - b);
  const oldest = sorted[0] ?? 0;
  const newest = sorted.at(-1) ?? 0;
  const isInside = sorted.length === items.length && oldest >= lowest && newest <= highest;
  const isUp = isRising(ats);
  const isDown = isRising(ats.toReversed());
  const isPeel = isInside && isUp && isDown && facts.peels < mostPeels;

  /**
   * Cuts there. So many items (`count`) lie between `from` and the first place, from which the next
   * slices are planned; 0 when nobody knows.
   */
  const cutAt = (wanted: readonly number[], count = 0, from = lowest): Step<I> => {
    const inside = (places: readonly number[]): number[] => {
      const whole = places.map((place) => Math.floor(place / step) * step);
      return [...new Set(whole)].filter((place) => place > lowest && place < highest);
    };

    // Where the page shows nothing but the ends of the piece, these are cut off.
    let places = inside(wanted);
    if (places.length === 0) places = inside(sorted).slice(0, 1);
    if (places.length === 0) places = inside([lowest + step, highest - step]);
    const width = Math.max(step, (places[0] as number) - from);
    const density = count > 0 ? { items: count, width } : null;
    return { kind: 'split', places, isShown: isInside, isPeel, density, total };
  };

  // Where the clock was changed, items show nothing of where they lie in the piece: it is halved.
  if (!isInside) {
    const from = range.from ?? Math.min(oldest, newest - 2 * stray);
    return cutAt([(from + (range.to ?? from + 2 * stray)) / 2]);
  }

  const isPlanned = !isWasteful(facts);

  // One position, of which there are more: what comes before it, the position itself, and the rest,
  // one after the other.
  if (isPeel)
    return cutAt([[newest - step, newest].find((place) => place > lowest) ?? newest + step]);
  if (isUp && !isDown) {
    const filled = sorted[Math.floor(sorted.length * fill)] ?? newest;
    const end = isPlanned ? filled : newest - step;
    const count = sorted.filter((one) => one < end).length;
    return cutAt([end], count, Math.max(lowest, oldest - step));
  }
  const isFew = total < fewPages * size;

  // In no order, a page shows a sample of all.
  if (!isDown && (isFew || !isPlanned)) {
    const shown = Math.max(2, Math.floor(sorted.length / itemsPerCut));
    const parts = Math.min(Math.ceil(total / (fill * size)), shown);
    const sampled = Array.from({ length: parts - 1 }, (_, i) => {
      return sorted[Math.floor((sorted.length * (i + 1)) / parts)] ?? newest;
    });
    return cutAt(sampled);
  }

  // Newest first, the page is the end of the piece.
  if (isDown && !isUp && isFew && facts.density !== null) return cutAt([oldest + step]);

  // Half a page at first: nothing shows how even the list is.
  const half = Math.min(total, size) / 2;
  if (!isDown) return cutAt([oldest + ((newest - oldest) * half) / total], half, oldest);

  // Newest first, the last page shows where items begin. When plans take too many requests, one that
  // has fewer than `fewPages` behind it: these are read on where a page ends.
  const end = Math.ceil(total / items.length) - 1;
  if (look === null)
    return {
      kind: 'look',
      page: Math.max(1, isPlanned ? end : end - fewPages + 2),
      rows: items.length,
    };
  const begin = look.ats.reduce((a, b) => Math.min(a, b), oldest);
  if (look.page < end) return cutAt([begin]);
  return cutAt([begin + ((newest - begin) * half) / total], half, begin);
}

/**
 * Where a slice of a piece should end so that it fills most of a page; null: it is asked for as it
 * is. `before`: pieces that come before it.
 */
export function endOf(
  { from, to }: Range,
  facts: Facts,
  { step, hasPositions }: Limits,
  before: number,
): number | null {
  const { density, isQuiet, left, size } = facts;
  if (density === null || from === null || hasPositions === false) return null;

  // After a quiet time, an answer shows where items go on.
  if (isQuiet || isWasteful(facts)) return null;
  const { items, width } = density;
  const aim = fill * size;
  const widest = Math.min((aim * width) / items, widening * width);
  const ideal = Math.max(step, Math.floor(widest / step) * step);
  const end = from + ideal;
  if (to !== null) return to - end < ideal * smallRest ? null : end;

  // Nobody knows how far an open piece goes: it is asked for as it is when no more of its total is
  // left than a slice and half a page.
  return left - before * aim < aim + 0.5 * size ? null : end;
}

/** What is on its way, and what came and waits for its turn. */
export interface Ahead {
  /** Pieces that were asked for and not delivered. */
  readonly asked: number;
  /** Requests without an answer. */
  readonly open: number;
  /** Items that came. */
  readonly held: number;
  /** Slices that may still be delivered. */
  readonly left: number;
  /** Somebody waits for the next slice. */
  readonly isAwaited: boolean;
}

/**
 * Whether one more piece may be asked for. While somebody waits, two pages for each other request
 * may have come before it is their turn: what is first may take several requests.
 */
export function mayAskAhead(
  { asked, open, held, left, isAwaited }: Ahead,
  { density, isMixed }: Facts,
  { rows, ahead }: Pick<Limits, 'rows'> & { readonly ahead: number },
): boolean {
  if (density === null || open >= ahead) return false;
  const hasRoom = isAwaited && !isMixed ? held < 2 * (ahead - 1) * rows : asked < ahead;

  // Each piece may turn out to be two slices.
  return hasRoom && asked < Math.ceil(left / 2);
}
