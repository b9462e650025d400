import type { Cursor, PageView } from './page-view.ts';
import type { Region } from './region.ts';
import type { Seen } from './seen.ts';
import type { BoundStyle, Span } from './span.ts';

/** Why a request brought no page. */
export type Failure =
  /** The server does not take the filter as written. */
  | 'refused'
  /** The page does not fit its place in the list, however often the client tried. */
  | 'misplaced'
  /** Anything else: the read ends with this error. */
  | 'failed';

/** A page that was requested. `result` is null until it arrives. */
export interface PageWork {
  /** The number of its request. */
  readonly id: number;
  readonly index: number;
  /** What it was asked for by, from the page before; null when by its number. */
  readonly after: Cursor | null;
  readonly rows: number;
  /** How the upper end of its slice was written. */
  readonly style: BoundStyle;
  readonly result: PageView | Failure | null;
}

/** One pass over the pages of a slice. */
export interface Pass {
  readonly rows: number;
  readonly total: number | null;
  /** Records of the pages taken so far. */
  readonly count: number;
  /** Those of them that the count at the end will hold. */
  readonly settled: number;
  /** Some of them were delivered with an earlier slice. */
  readonly hasStrays: boolean;
  /** Checksum of the ids of these records, in order. */
  readonly idChecksum: number;
  /** The same records by id. A pass that ends with its first page needs none. */
  readonly seen: Seen;
}

/** Where an earlier run stopped inside a slice: how many of its records it delivered, and the checksum of their ids. */
export interface ResumePoint {
  readonly taken: number;
  readonly idChecksum: number;
  /** The page that it lies on, of a list that goes on by cursors. */
  readonly page?: PageStart | undefined;
}

/** Where a page begins in its slice. */
export interface PageStart {
  /** Its number among the pages of the slice. The first is 0. */
  readonly index: number;
  /** The cursor that asks for it. */
  readonly after: Cursor;
  /** Items of the slice before it. */
  readonly offset: number;
  /** Checksum of the ids of these items. */
  readonly idChecksum: number;
  /** Those of them that the count at the end will hold. */
  readonly settled: number;
}

/** A slice that is being read. */
export interface SliceWork {
  readonly kind: 'slice';
  readonly id: number;
  readonly span: Span;
  /** Its records are settled: none is expected to come or go. */
  readonly isSealed: boolean;
  /** The region it was cut from, and what was expected of it. */
  readonly origin: { readonly region: number; readonly expected: number; readonly width: number } | null;
  /** It was cut from a slice whose pages never agreed, and may have one page only. */
  readonly isSingle: boolean;
  /** Passes over it, the running one included. */
  readonly passes: number;
  readonly pass: Pass;
  /** What was delivered in passes that failed. */
  readonly sent: readonly Seen[];
  readonly resume: ResumePoint | null;
  /** Request its total with one row first. */
  readonly probe: boolean;
  /** Its total was counted in already. */
  readonly isCounted: boolean;
  /** The estimated lower end of a slice that is open below, once the server was asked. */
  readonly lower: number | null;
  /** Pages requested and not yet taken, in order, and the index of the next one to request. */
  readonly pages: readonly PageWork[];
  readonly next: number;
  /** The index of the first page of this pass: not 0 where an earlier run is gone on with by a cursor. */
  readonly begin: number;
  /**
   * How the source says that the list goes on after the last page requested: null until that page is there, undefined when
   * the source does not say.
   */
  readonly onward: { readonly to: Cursor | null } | null | undefined;
  /**
   * What its first page showed: `requested` until it arrives, `unclear` while a question to the server is open, `readable`,
   * `foreign` when it holds records from outside the slice, `stuck` when a question failed.
   */
  readonly status: 'requested' | 'unclear' | 'readable' | 'foreign' | { readonly stuck: number };
}

/** A stretch not yet cut into slices. */
export interface RegionWork extends Region {
  readonly kind: 'region';
  readonly id: number;
  readonly isSingle: boolean;
  readonly sent: readonly Seen[];
}

/** A piece of the work that lies ahead. */
export type Work = SliceWork | RegionWork;

/** What all passes begin with. */
export function newPass(rows: number): Pass {
  return { rows, total: null, count: 0, settled: 0, hasStrays: false, idChecksum: 0, seen: [] };
}

/** A slice of which nothing was requested yet. */
export function newSlice(
  facts: Pick<SliceWork, 'id' | 'span' | 'isSealed'> & Partial<SliceWork>,
  rows: number,
): SliceWork {
  const page = facts.resume?.page;
  return {
    kind: 'slice',
    origin: null,
    isSingle: false,
    passes: 1,
    pass: {
      ...newPass(rows),
      ...(page && { count: page.offset, idChecksum: page.idChecksum, settled: page.settled }),
    },
    sent: [],
    resume: null,
    probe: false,
    isCounted: false,
    lower: null,
    pages: [],
    ...startAt(page),
    status: 'requested',
    ...facts,
  };
}

/** Where a pass begins: with the first page, or with the one that an earlier run came to. */
export function startAt(page: PageStart | undefined): Pick<SliceWork, 'next' | 'begin' | 'onward'> {
  const index = page?.index ?? 0;
  return { next: index, begin: index, onward: page && { to: page.after } };
}

/** Whether there is a page of the slice to request now. `cap`: items that the source gives at most. */
export function hasNextPage({ pass, pages, next, begin, onward }: SliceWork, cap: number): boolean {
  if (next === begin) return true;
  // How many rows the server gives, and how many records there are, is known when the first page was taken.
  if (pages.length === next - begin) return false;
  if (onward !== undefined) return onward !== null && onward.to !== null;
  if (next * pass.rows >= cap) return false;
  return pass.total === null ? pages.length === 0 : next * pass.rows < pass.total;
}

/** Whether the first and last record of a page lie inside its slice. */
export function isInside({ from, to }: Span, page: PageView): boolean {
  const ends = page.count > 0 ? [0, page.count - 1] : [];
  return ends
    .map(page.positionOf)
    .every((time) => !(time < (from ?? time)) && !(time >= (to ?? Number.POSITIVE_INFINITY)));
}
