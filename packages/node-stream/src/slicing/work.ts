import type { Span } from '../query/time-slice.ts';
import type { BoundStyle } from '../query/window-query.ts';
import type { PageView } from './page-view.ts';
import type { Region } from './region.ts';
import { nothingSeen, type Seen } from './seen.ts';

/** Why a request brought no page. */
export type Failure =
  /** The server does not take the filter as written. */
  | 'refused'
  /** The page does not fit its place in the list, however often the client asked. */
  | 'misplaced'
  /** Anything else: the read ends with this error. */
  | 'failed';

/** A page that was asked for. `result` is null while it is on its way. */
export interface PageWork {
  /** The number of its request. */
  readonly id: number;
  readonly index: number;
  readonly rows: number;
  /** How the upper end of its slice was written. */
  readonly style: BoundStyle;
  readonly result: PageView | Failure | null;
}

/** One walk over the pages of a slice. */
export interface Pass {
  readonly rows: number;
  readonly total: number | null;
  /** Records of the pages taken so far. */
  readonly count: number;
  /** Checksum of the sids of these records, in order. */
  readonly sidChecksum: number;
  /** The same records by sid. A pass that is done with its first page needs none. */
  readonly seen: Seen;
}

/** Where an earlier run stopped inside a slice: how many of its records it handed out, and the checksum of their sids. */
export interface ResumePoint {
  readonly taken: number;
  readonly sidChecksum: number;
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
  /** What went out in passes that failed. */
  readonly sent: readonly Seen[];
  readonly resume: ResumePoint | null;
  /** Ask for its total with one row first. */
  readonly probe: boolean;
  /** Its total was counted in already. */
  readonly isCounted: boolean;
  /** A lower end to reckon with that the server was asked for, while the slice is open below. */
  readonly lower: number | null;
  /** Pages asked for and not yet taken, in order, and the index of the one to ask for next. */
  readonly pages: readonly PageWork[];
  readonly next: number;
  /**
   * What its first page showed: `asked` before it is here, `unclear` while a question to the server is open, `readable`,
   * `foreign` when it holds records from outside the slice, `stuck` when a question failed.
   */
  readonly status: 'asked' | 'unclear' | 'readable' | 'foreign' | { readonly stuck: number };
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
  return { rows, total: null, count: 0, sidChecksum: 0, seen: nothingSeen() };
}

/** A slice of which nothing was asked yet. */
export function newSlice(
  facts: Pick<SliceWork, 'id' | 'span' | 'isSealed'> & Partial<SliceWork>,
  rows: number,
): SliceWork {
  return {
    kind: 'slice',
    origin: null,
    isSingle: false,
    passes: 1,
    pass: newPass(rows),
    sent: [],
    resume: null,
    probe: false,
    isCounted: false,
    lower: null,
    pages: [],
    next: 0,
    status: 'asked',
    ...facts,
  };
}

/** Whether there is a page of the slice to ask for now. */
export function hasNextPage({ pass, pages, next }: SliceWork): boolean {
  if (next === 0) return true;
  // How many rows the server gives, and how many records there are, is known when the first page was taken.
  if (pages.length === next) return false;
  return pass.total === null ? pages.length === 0 : next * pass.rows < pass.total;
}

/** Whether the first and last record of a page lie inside its slice. */
export function isInside({ from, to }: Span, page: PageView): boolean {
  const ends = page.count > 0 ? [0, page.count - 1] : [];
  return ends
    .map(page.timeOf)
    .every((time) => !(time < (from ?? time)) && !(time >= (to ?? Number.POSITIVE_INFINITY)));
}
