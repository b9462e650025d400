import type { Axis } from './axis.ts';
import { type Capacity, capacityOf, recordsIn } from './capacity.ts';
import type { Trouble } from './judge.ts';
import { type Lookahead, type LookaheadLimits, lookaheadOf } from './lookahead.ts';
import type { Cursor } from './page-view.ts';
import type { Question } from './questions.ts';
import type { CutLimits } from './region.ts';
import type { BoundStyle, Span } from './span.ts';
import { newSlice, type ResumePoint, type SliceWork, type Work } from './work.ts';

/** What a read is given; it stays the same throughout. */
export interface PlanSettings {
  readonly axis: Axis;
  /** Rows to request. */
  readonly rows: number;
  /** Items of one range that the source gives at most. Default: no limit. */
  readonly cap?: number | undefined;
  /** Pages a slice may have; 0 when the query is not cut at all. */
  readonly slicePages: number;
  /** Passes over one slice before it is given up. */
  readonly tries: number;
  /** Positions: items before the first are settled, none is expected after the second. */
  readonly sealedBefore: number;
  readonly horizon: number;
  /** Items before this position are counted for the count at the end. */
  readonly countBefore: number;
  readonly lookahead: LookaheadLimits;
  /** The read's own ends, null when open, and whether one is written with `{` or `}`. */
  readonly lower: number | null;
  readonly upper: number | null;
  readonly hasExclusiveBound: boolean;
  /** No item may lie outside of these ends: a list of its own has no bounds that it could read in another way. Default false. */
  readonly isBounded?: boolean | undefined;
  /** Records that changed between two passes over their slice are not delivered a second time. */
  readonly keepsFirst: boolean;
  /** Most pages to deliver. Default: no limit. */
  readonly mostPages?: number | undefined;
}

/** How the records lie from the beginning of a span on, as an earlier read found out. */
export interface Pace {
  /** Records of the span, about. */
  readonly remaining: number;
  /** Length of a stretch that was looked at. */
  readonly width: number;
  /** Records that it held. */
  readonly held: number;
}

/** A span to read, with what is known of it. */
export interface PlannedSpan extends Span {
  readonly pace?: Pace | undefined;
}

/** All that is known of a read. A state is never changed: each event makes a new one. */
export interface Plan {
  readonly settings: PlanSettings;
  /** What lies ahead, in the order in which it is delivered. */
  readonly work: readonly Work[];
  /** How upper ends are written; null until the server's way is known. */
  readonly style: BoundStyle | null;
  /** Whether the source filters by position at all. Null until a page casts doubt on it. */
  readonly obeysRanges: boolean | null;
  /** Ids delivered with a slice that ends before their position: a later slice may bring them again. */
  readonly strays: ReadonlySet<string>;
  readonly capacity: Capacity;
  readonly lookahead: Lookahead;
  /** The question to the server that is open. One at a time. */
  readonly question: Question | null;
  /** The consumer waits for records. */
  readonly isWanted: boolean;
  /** Pages delivered. */
  readonly delivered: number;
  /** The next number for a request, a slice or a region. */
  readonly nextId: number;
}

/** What the reader does. */
export type Output =
  /** Send a request. Its result comes back as an event with this id. */
  | {
      readonly kind: 'request';
      readonly id: number;
      /** The slice that it is for. */
      readonly slice: number;
      readonly span: Span;
      readonly style: BoundStyle;
      readonly rows: number;
      readonly start: number;
      /** From the page before, where the source gives cursors. */
      readonly after: Cursor | null;
    }
  /** The page of a request, or its error, is no longer needed. */
  | { readonly kind: 'forget'; readonly id: number }
  | { readonly kind: 'batch'; readonly batch: PlannedBatch }
  /** Everything was delivered. */
  | { readonly kind: 'end' }
  /** The read cannot go on. */
  | { readonly kind: 'failure'; readonly failure: PlanFailure }
  /** The total of a part of the query became known. */
  | { readonly kind: 'total'; readonly total: number }
  /** A slice is read once more from its start. */
  | { readonly kind: 'reread'; readonly span: Span; readonly trouble: Trouble };

/** The records of one page that are delivered, and where they are. */
export interface PlannedBatch {
  /** The request that brought the page. */
  readonly id: number;
  readonly span: Span;
  /** Page within the slice, and place in the slice of the page's first record. */
  readonly index: number;
  readonly after: Cursor | null;
  readonly offset: number;
  /** Items before the page that the count at the end will hold. */
  readonly settledBefore: number;
  /** Checksum of the ids of the slice before this page. */
  readonly idChecksum: number;
  readonly ids: readonly string[];
  /** Places in the page; null for all of them. */
  readonly keep: readonly number[] | null;
  /** Records received again and left out; records delivered again because they changed. */
  readonly again: number;
  readonly changed: number;
  /** The slice is complete with this batch. */
  readonly isLast: boolean;
  /** Passes over the slice; its records so far; its total, null when the server gave none. */
  readonly passes: number;
  readonly count: number;
  readonly total: number | null;
  /** Those of them that are from before `countBefore` and not delivered with an earlier slice too. */
  readonly settled: number;
  /** Some records of the slice were. */
  readonly hasStrays: boolean;
  /** It is longer than the source gives: so many items are out of reach, 0 when nobody knows how many. Null when it is not. */
  readonly outOfReach: number | null;
}

/** Why a read cannot go on. */
export type PlanFailure =
  | { readonly kind: 'request'; readonly id: number; readonly span: Span; readonly index: number }
  | { readonly kind: 'ranges_ignored'; readonly span: Span }
  | {
      readonly kind: 'incomplete';
      readonly span: Span;
      readonly expected: number | null;
      readonly got: number;
      readonly trouble: Trouble;
      readonly tries: number;
    };

/** A state while an event is worked in. */
export type Draft = { -readonly [K in keyof Plan]: Plan[K] } & { readonly outputs: Output[] };

/** The state of a read that has not begun. `resume` is where an earlier run stopped inside the first of the spans. */
export function newPlan(
  settings: PlanSettings,
  spans: readonly PlannedSpan[],
  options: { resume?: ResumePoint | null; style?: BoundStyle | null; capacity?: Capacity | null } = {},
): Plan {
  const { rows, slicePages, lookahead } = settings;
  return {
    settings,
    work: spans.map((span, id) => pieceOf(settings, span, id, id === 0 ? (options.resume ?? null) : null)),
    style: options.style ?? null,
    obeysRanges: null,
    strays: new Set(),
    capacity: options.capacity ?? capacityOf(rows, Math.max(1, slicePages), settings.cap),
    lookahead: lookaheadOf(lookahead),
    question: null,
    isWanted: false,
    delivered: 0,
    nextId: spans.length,
  };
}

function pieceOf(
  settings: PlanSettings,
  { pace, ...span }: PlannedSpan,
  id: number,
  resume: ResumePoint | null,
): Work {
  if (pace === undefined || span.from === null || resume !== null)
    return newSlice({ id, span, isSealed: isSealed(settings, span), resume }, settings.rows);
  const upper = upperFrom(settings, span, span.from);
  return {
    kind: 'region',
    id,
    span,
    lower: span.from,
    upper,
    ...pace,
    firstCut: null,
    isSingle: false,
    sent: [],
  };
}

/** Whether no record of a span is expected to come or go. */
export function isSealed({ upper, sealedBefore }: PlanSettings, span: Span): boolean {
  return (span.to ?? upper ?? Number.POSITIVE_INFINITY) <= sealedBefore;
}

/** The lower end of a slice, null when it is open below and nothing is known. */
export function lowerOf({ settings }: Plan, { span, lower }: SliceWork): number | null {
  return span.from ?? settings.lower ?? lower;
}

/** The upper end to reckon with. A query without one always leaves room after what is known. */
function upperOf({ settings }: Plan, { span }: SliceWork, lower: number): number {
  return upperFrom(settings, span, lower);
}

function upperFrom(settings: PlanSettings, span: Span, lower: number): number {
  return span.to ?? settings.upper ?? Math.max(settings.horizon, lower + settings.axis.far);
}

/** Both ends to reckon with. A lower end that was only found out may lie after the upper one, where a clock was put on. */
export function extentOf(plan: Plan, slice: SliceWork, lower: number): { lower: number; upper: number } {
  const upper = upperOf(plan, slice, lower);
  const { step, near } = plan.settings.axis;
  return { lower: upper - lower > step ? lower : upper - near, upper };
}

/** Whether a slice may be cut. */
export function canSplit(plan: Plan, slice: SliceWork): boolean {
  if (plan.settings.slicePages === 0) return false;
  const lower = slice.span.from ?? plan.settings.lower ?? plan.settings.axis.first;
  return upperOf(plan, slice, lower) - lower > plan.settings.axis.step;
}

/** What cuts of regions depend on. */
export function limitsOf({ capacity, settings }: Plan, { isSingle }: Work): CutLimits {
  return {
    capacity: recordsIn(capacity, isSingle),
    aimAt: capacity.aimAt,
    sealedBefore: settings.sealedBefore,
    axis: settings.axis,
  };
}

/** A new number. */
export function takeId(draft: Draft): number {
  return draft.nextId++;
}

/** Puts other work, or none, in the place of one piece. */
export function replace(draft: Draft, id: number, ...others: readonly Work[]): void {
  const at = draft.work.findIndex((piece) => piece.id === id);
  if (at >= 0) draft.work = [...draft.work.slice(0, at), ...others, ...draft.work.slice(at + 1)];
}

/** Puts a piece in the place of its older self. */
export function put<W extends Work>(draft: Draft, piece: W): W {
  replace(draft, piece.id, piece);
  return piece;
}

/** What a read has found out that a later one begins with. */
export interface Outlook {
  /** How upper ends are written; null when it is not known. */
  readonly style: BoundStyle | null;
  /** Records that a slice may hold. */
  readonly capacity: Capacity;
  /** How the records lie behind what was delivered. */
  readonly pace: Pace | null;
}

/** What a later read may begin with, behind what was delivered. */
export function outlookOf({ style, capacity, work }: Plan): Outlook {
  const region = work.find((piece) => piece.kind === 'region');
  const cut = work.flatMap((piece) =>
    piece.kind === 'slice' && piece.origin !== null ? [piece.origin] : [],
  );
  const expected = cut.reduce((sum, origin) => sum + origin.expected, 0);
  if (region?.kind === 'region') {
    const { remaining, width, held } = region;
    return { style, capacity, pace: { remaining: remaining + expected, width, held } };
  }
  const [first] = cut;
  const pace = first === undefined ? null : { remaining: expected, width: first.width, held: first.expected };
  return { style, capacity, pace };
}
