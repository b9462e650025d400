import type { IdSet } from '../ids.ts';
import type { Range, ReadState } from '../proof.ts';

/** What a reader has to know of an item before it is delivered. */
export interface Item {
  /** What tells it from all others. */
  readonly id: string;
  /** Where it lies; NaN when it does not say. */
  readonly at: number;
}

/** What a range is asked for. */
export interface Ask {
  readonly range: Range;
  /** Page of the range, from 0. */
  readonly page: number;
  readonly rows: number;
  /** `next` of the page before, where the list goes on by that. */
  readonly after: string | number | null;
  readonly signal: AbortSignal;
}

/** An answer of a list. */
export interface Answer<I extends Item> {
  /** Its items, in the order of the list. */
  readonly items: readonly I[];
  /** Items of the whole range; null when the server does not say. */
  readonly total: number | null;
  /** What asks for the next page, where the list goes on by that; null at its end. */
  readonly next?: string | number | null | undefined;
}

/**
 * A list that can be asked for a range. It throws `Misplaced` when an answer was not the page that
 * was asked for.
 */
export interface ListSource<I extends Item> {
  ask(request: Ask): Promise<Answer<I>>;
}

/** An answer that was not what was asked for; another one may be. */
export class Misplaced extends Error {
  override readonly name = 'Misplaced';
}

/** What a reader knows of its list before it reads. */
export interface Limits {
  /** Items of a page, as they are asked for. */
  readonly rows: number;
  /** The smallest difference of two positions. No range is narrower. */
  readonly step: number;
  /** How far outside a range an item may lie: a clock change of the server moves it there. */
  readonly stray: number;
  /** Whether the items have positions; without, the list is one range. Default: they have. */
  readonly hasPositions?: boolean;
}

/** How close items lie where the list was seen last: so many in such a width. */
export interface Density {
  /** Items of a range. */
  readonly items: number;
  /** The width of that range. */
  readonly width: number;
}

/** How close items lie, so that the next slices can be planned. */
export interface Pace extends Density {
  /** Items that a page holds. */
  readonly size: number;
  /** Items that an open end still holds, as far as answers have shown that. */
  readonly left: number;
}

/** How a list is read, in one run or several. */
export interface ReadOptions extends Limits {
  /** Slices that are asked for at the same time. */
  readonly ahead: number;
  /**
   * Items behind this still appear: stretches end here, so that what lies before can be counted by
   * itself. Null: none do.
   */
  readonly until: number | null;
}

/** How one run reads a list. */
export interface SliceOptions extends ReadOptions {
  /** Ends the requests in flight. */
  readonly stop: AbortController;
  /** Where an earlier read stopped. */
  readonly from: Pick<ReadState, 'border' | 'pages'> | null;
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
