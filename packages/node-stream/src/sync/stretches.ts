import type { TimeSlice } from '../calls/time-slice.ts';
import type { VerdictReason } from '../reader/verdict.ts';

// What a copy has of the order of calls, as a value. Naive times compare as strings.

/** A range of `date_added` with what is known of it. */
export interface Stretch extends TimeSlice {
  /**
   * `unread`: it was asked for and not read. `read`: it was read, and the count that proves it is still to come. `whole`: it was
   * read, and the server counts as many. `unproven` and `short`: `reasons` says why it is not whole.
   */
  readonly is: 'unread' | 'read' | 'whole' | 'unproven' | 'short';
  /** Calls that the server had when it was read. Null when nobody counted them. */
  readonly calls: number | null;
  /** When it was read, in milliseconds since 1970; when a count has proved it, the time of that. Null when it is unread. */
  readonly at: number | null;
  /** Calls may still come or change here, so the next run reads it again. */
  readonly again?: true;
  /** Calls that the server counts and that were not read, when it is `short`. */
  readonly missing?: number;
  /** Why it is not whole. */
  readonly reasons?: readonly VerdictReason[];
  /** A first part of it was stored: so many calls in the server's order, and the checksum of their sids. */
  readonly begun?: { readonly taken: number; readonly idChecksum: number };
}

/** Stretches in order of time that do not overlap. What lies between them was never asked for. */
export type Stretches = readonly Stretch[];

/** The ends of a range as strings that compare: open ends come before and after all times. */
export const startOf = ({ from }: TimeSlice): string => from ?? '';
/** See `startOf`. */
export const endOf = ({ to }: TimeSlice): string => to ?? '~';

function later(a: string, b: string): string {
  if (a > b) return a;
  return b;
}

function sooner(a: string, b: string): string {
  if (a < b) return a;
  return b;
}

/** The range between two such ends. */
const between = (start: string, end: string): TimeSlice => ({
  from: start === '' ? null : start,
  to: end === '~' ? null : end,
});

/** What two ranges have in common. Where that is nothing, its end is not after its start. */
export const commonSlice = (one: TimeSlice, other: TimeSlice): TimeSlice =>
  between(later(startOf(one), startOf(other)), sooner(endOf(one), endOf(other)));

/** Whether a stretch has all calls that the server had when it was read. */
export const isWhole = ({ is }: Stretch): boolean => is === 'whole';

/** Whether a stretch was read and lacks something, or nothing proves that it does not. */
export const isFaulty = ({ is }: Stretch): boolean => is === 'short' || is === 'unproven';

/** The stretches without what lies in a range. Of one that is cut, nobody knows how many calls are left. */
function without(list: Stretches, range: TimeSlice): Stretch[] {
  const [start, end] = [startOf(range), endOf(range)];
  return list.flatMap((stretch) => {
    const [a, b] = [startOf(stretch), endOf(stretch)];
    if (b <= start || a >= end) return [stretch];
    const { begun: _, ...rest } = stretch;
    const left = a < start ? [{ ...rest, ...between(a, start), calls: null }] : [];
    const right = b > end ? [{ ...rest, ...between(end, b), calls: null }] : [];
    return [...left, ...right];
  });
}

/** Puts stretches in the place of what was known of their range. */
export function put(list: Stretches, range: TimeSlice, others: Stretches): Stretch[] {
  return [...without(list, range), ...others].sort((a, b) => (startOf(a) < startOf(b) ? -1 : 1));
}

/** Adds what a run asks for: what was never asked for becomes unread. */
export function want(list: Stretches, asked: TimeSlice): Stretch[] {
  const end = endOf(asked);
  const gaps: Stretch[] = [];
  let start = startOf(asked);
  const unread = (to: string) => gaps.push({ ...between(start, to), is: 'unread', calls: null, at: null });
  for (const stretch of list) {
    if (startOf(stretch) > start && start < end) unread(sooner(startOf(stretch), end));
    if (endOf(stretch) > start) start = endOf(stretch);
  }
  if (start < end) unread(end);
  return joined([...list, ...gaps].sort((a, b) => (startOf(a) < startOf(b) ? -1 : 1)));
}

/** Which of the stretches a run reads. */
export interface Due {
  /** The range that it asks for. */
  readonly asked: TimeSlice;
  /** Calls from this time on are read again; null when there are none yet. */
  readonly againFrom: string | null;
}

/** What a run reads: what is unread and what may still change in its range, and all that is known not to be whole. */
export function due(list: Stretches, { asked, againFrom }: Due): Stretch[] {
  const [start, end] = [startOf(asked), endOf(asked)];
  return list.flatMap((stretch) => {
    if (isFaulty(stretch)) return [stretch];
    const from = later(startOf(stretch), start);
    const to = sooner(endOf(stretch), end);
    if (from >= to) return [];
    const inside = from === startOf(stretch) && to === endOf(stretch) ? stretch : cutOff(stretch, from, to);
    if (stretch.is === 'unread' || stretch.again) return [inside];
    const isYoung = stretch.is === 'whole' && againFrom !== null && to > againFrom;
    if (!isYoung) return [];
    // Where nobody counted the calls of a stretch, nothing is lost by cutting it.
    return [stretch.calls === null && againFrom > from ? cutOff(stretch, againFrom, to) : inside];
  });
}

/** A part of a stretch that is to be read. */
const cutOff = ({ begun: _, ...stretch }: Stretch, from: string, to: string): Stretch => ({
  ...stretch,
  ...between(from, to),
  calls: null,
});

/** Neighbors as one range each. */
export function spansOf(list: Stretches): TimeSlice[] {
  const spans: TimeSlice[] = [];
  for (const stretch of list) {
    const last = spans.at(-1);
    if (last !== undefined && endOf(last) === startOf(stretch))
      spans[spans.length - 1] = between(startOf(last), endOf(stretch));
    else spans.push(between(startOf(stretch), endOf(stretch)));
  }
  return spans;
}

/** What is left of ranges without another one. */
export function rest(spans: readonly TimeSlice[], done: TimeSlice): TimeSlice[] {
  const [start, end] = [startOf(done), endOf(done)];
  return spans.flatMap((span) => {
    const [a, b] = [startOf(span), endOf(span)];
    return [
      ...(a < start ? [between(a, sooner(b, start))] : []),
      ...(b > end ? [between(later(a, end), b)] : []),
    ];
  });
}

/** Whether two ranges have a time in common. */
export const overlap = (one: TimeSlice, other: TimeSlice): boolean =>
  startOf(one) < endOf(other) && startOf(other) < endOf(one);

/** A slice of which all pages were read. */
export interface ReadSlice extends TimeSlice {
  /** Calls of the server in it. */
  readonly calls: number;
  /** Times of its calls, where they are all known: then it can be cut. */
  readonly times: readonly string[] | null;
  /** Why the read did not prove it. */
  readonly reasons: readonly VerdictReason[];
  /** When it was read. */
  readonly at: number;
}

/** Takes a slice in that was read: cut at the given times, so that each part can be counted, and read again, alone. */
export function take(list: Stretches, slice: ReadSlice, cuts: readonly string[]): Stretch[] {
  const { times, calls, reasons, at } = slice;
  const [start, end] = [startOf(slice), endOf(slice)];
  const inside = [...new Set(cuts)].filter((cut) => cut > start && cut < end).sort();
  const ends = times === null ? [end] : [...inside, end];
  const parts = ends.map((to, i): Stretch => {
    const from = i === 0 ? start : (ends[i - 1] ?? start);
    const isIn = (time: string) => (i === 0 || time >= from) && (i === ends.length - 1 || time < to);
    return {
      ...between(from, to),
      is: reasons.length > 0 ? faultOf(reasons) : 'read',
      calls: times === null ? calls : times.filter(isIn).length,
      at,
      ...(reasons.length > 0 ? { reasons } : {}),
    };
  });
  return put(list, slice, parts);
}

/** Notes how much of a slice is stored, when it was read in part. What is read again keeps what is known of it. */
export function begin(list: Stretches, slice: TimeSlice, begun: NonNullable<Stretch['begun']>): Stretches {
  if (list.some((stretch) => stretch.is !== 'unread' && overlap(stretch, slice))) return list;
  const { from, to } = slice;
  return put(list, slice, [{ from, to, is: 'unread', calls: null, at: null, begun }]);
}

/** What the reasons make of a stretch. */
const faultOf = (reasons: readonly VerdictReason[]): 'short' | 'unproven' =>
  reasons.some(({ code }) => code === 'skipped' || code === 'count_rose') ? 'short' : 'unproven';

/** Joins neighbors that are unread, but for one that was begun. */
function joined(list: Stretches): Stretch[] {
  const all: Stretch[] = [];
  for (const stretch of list) {
    const last = all.at(-1);
    const isOne = last?.is === 'unread' && stretch.is === 'unread' && !last.begun && !stretch.begun;
    if (last !== undefined && isOne && endOf(last) === startOf(stretch))
      all[all.length - 1] = { ...last, to: stretch.to };
    else all.push(stretch);
  }
  return all;
}

/** From so many stretches on, neighbors that are alike are joined. */
const usual = 48;
/** Stretches that a state holds at most. */
const most = 160;

/**
 * The same in fewer stretches, so that a state stays small. Those that end after `keepFrom` stay apart at cuts, so that what is
 * read again begins near to where it must.
 */
export function bounded(list: Stretches, keepFrom: string, isCut: (time: string) => boolean): Stretch[] {
  const all = joined(list);
  const mayJoin = (a: Stretch, b: Stretch): boolean =>
    endOf(a) === startOf(b) &&
    a.is === b.is &&
    a.again === b.again &&
    (a.is === 'read' || a.is === 'whole') &&
    (endOf(b) <= keepFrom || !isCut(endOf(a)));
  while (all.length > usual && joinSmallest(all, mayJoin));
  // A copy with faults all over reads more again than it must.
  while (all.length > most && joinSmallest(all, (a, b) => endOf(a) === startOf(b) && !a.begun && !b.begun));
  return all;
}

function joinSmallest(all: Stretch[], mayJoin: (a: Stretch, b: Stretch) => boolean): boolean {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const [i, b] of all.entries()) {
    const a = all[i - 1];
    if (a === undefined || !mayJoin(a, b)) continue;
    const calls = (a.calls ?? 0) + (b.calls ?? 0);
    if (calls < least) [best, least] = [i - 1, calls];
  }
  const [a, b] = [all[best], all[best + 1]];
  if (a === undefined || b === undefined) return false;
  all.splice(best, 2, both(a, b));
  return true;
}

const worst = ['unread', 'short', 'unproven', 'read', 'whole'] as const;

/** Two neighbors as one, which is no better than the worse of them. */
function both(a: Stretch, b: Stretch): Stretch {
  const is = worst.find((one) => one === a.is || one === b.is) ?? 'unread';
  if (is === 'unread') return { from: a.from, to: b.to, is, calls: null, at: null };
  const missing = (a.missing ?? 0) + (b.missing ?? 0);
  const reasons = [...(a.reasons ?? []), ...(b.reasons ?? [])];
  return {
    from: a.from,
    to: b.to,
    is,
    calls: a.calls === null || b.calls === null ? null : a.calls + b.calls,
    at: Math.min(a.at ?? 0, b.at ?? 0),
    ...(a.again || b.again ? { again: true } : {}),
    ...(missing > 0 ? { missing } : {}),
    ...(reasons.length > 0 ? { reasons } : {}),
  };
}
