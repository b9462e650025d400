import { type Span, spanOf, type TimeSlice, timeSliceOf } from '../query/time-slice.ts';

// What the counts at the end have to find. One sum for a whole read cannot tell five calls that were removed from five that
// came late behind the reader; several counts can, unless both fall into the same stretch.

/** A stretch of the query that was read, and its records from before the time up to which the server counts at the end. */
export interface Counted extends TimeSlice {
  readonly count: number;
}

// Stretches that a checkpoint keeps: twice the most counts, so that these come out of about equal size.
const mostKept = 32;
const pagesPerCount = 50;
const mostCounts = 16;

/**
 * The stretches and one more slice, up to the naive time `before`. `hasStrays`: records of the slice had come with an earlier
 * one, so the server counts them in both, and no border may lie between.
 */
export function withCounted(
  stretches: readonly Counted[],
  { span, count, hasStrays }: { span: Span; count: number; hasStrays: boolean },
  before: number,
): readonly Counted[] {
  if (low(span) >= before) return stretches;
  const to = Math.min(high(span), before);
  const slice = { ...timeSliceOf({ from: span.from, to }), count };
  const around = stretches.find((each) => low(spanOf(each)) <= low(span) && high(spanOf(each)) >= to);
  const all = around
    ? stretches.map((each) => (each === around ? { ...each, count: each.count + count } : each))
    : [...stretches, slice].sort((a, b) => low(spanOf(a)) - low(spanOf(b)));
  const upTo = hasStrays ? all.findIndex((each) => high(spanOf(each)) >= to) : 0;
  const joined = upTo > 0 ? [join(all.slice(0, upTo + 1)), ...all.slice(upTo + 1)] : all;
  return joined.length > mostKept ? withFewer(joined) : joined;
}

/** The stretches to count at the end of a read with so many rows a page: one for each 50 pages, of about equal size. */
export function stretchesToCount(stretches: readonly Counted[], rows: number): Counted[] {
  const total = stretches.reduce((sum, { count }) => sum + count, 0);
  const counts = Math.min(mostCounts, Math.max(1, Math.ceil(total / rows / pagesPerCount)));
  const groups: Counted[][] = [];
  let sum = 0;
  for (const each of stretches) {
    // The group that the middle of the stretch falls into.
    const group = Math.min(counts - 1, Math.floor((counts * (sum + each.count / 2)) / Math.max(1, total)));
    const last = groups.at(-1);
    sum += each.count;
    if (last === undefined || group >= groups.length) groups.push([each]);
    else last.push(each);
  }
  return groups.map(join);
}

/** Joins the two neighbors that are smallest together. */
function withFewer(stretches: readonly Counted[]): readonly Counted[] {
  const sums = stretches.slice(1).map((each, i) => each.count + (stretches[i]?.count ?? 0));
  const at = sums.indexOf(Math.min(...sums));
  return [...stretches.slice(0, at), join(stretches.slice(at, at + 2)), ...stretches.slice(at + 2)];
}

function join(stretches: readonly Counted[]): Counted {
  const count = stretches.reduce((sum, each) => sum + each.count, 0);
  return { from: stretches[0]?.from ?? null, to: stretches.at(-1)?.to ?? null, count };
}

const low = ({ from }: Span): number => from ?? Number.NEGATIVE_INFINITY;
const high = ({ to }: Span): number => to ?? Number.POSITIVE_INFINITY;
