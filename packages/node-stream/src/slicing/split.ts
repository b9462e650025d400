import { itemAt } from '@call-attribution/core/errors';
import { earliest, finest, type Span } from '../query/time-slice.ts';
import type { PageView } from './page-view.ts';
import { type Region, regionOf } from './region.ts';

/** The times of a page that did not hold its whole slice. They show how the records lie, and in which order they come. */
export interface Sample {
  readonly order: 'ascending' | 'descending' | 'mixed';
  /** Naive milliseconds, ascending. */
  readonly times: readonly number[];
}

/** Reads the times of a page. */
export function sampleOf(page: PageView): Sample {
  const times = Array.from({ length: page.count }, (_, i) => page.timeOf(i)).filter(
    (time) => time >= earliest,
  );
  const sorted = [...times].sort((a, b) => a - b);
  const steps = times.slice(1).map((time, i) => time - itemAt(times, i));
  if (times.length < 2 || sorted[0] === sorted.at(-1)) return { order: 'mixed', times: sorted };
  if (steps.every((step) => step >= 0)) return { order: 'ascending', times: sorted };
  return { order: steps.every((step) => step <= 0) ? 'descending' : 'mixed', times: sorted };
}

/** How much of a sampled stretch the next slice takes: near full, since the sample shows its true density. */
const share = 0.85;

/**
 * The regions a span falls into. Rows in order of time show one end of it exactly: that end becomes one slice, and its
 * density the first guess for the rest. Rows in no order show the shape of the whole.
 */
export function regionsOf(
  span: Span,
  facts: { total: number; lower: number; upper: number; capacity: number },
  { order, times }: Sample,
): Region[] {
  const { total, lower, upper, capacity } = facts;
  const whole = regionOf(span, total, lower, upper);
  if (span.from === null && upper - lower <= finest) return splitAt(span, [lower], total, lower, upper);
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || times.length < 2) return [whole];
  if (first === last) return splitAt(span, [first, first + finest], total, lower, upper);
  const part = order === 'mixed' ? Math.min(share, (share * capacity) / total) : share;
  const taken = Math.floor(times.length * (order === 'descending' ? 1 - part : part));
  const at = itemAt(times, taken);
  if (at <= lower || at >= upper) return [whole];
  if (order === 'descending') {
    const top = times.length - times.indexOf(at);
    return [
      regionOf({ from: span.from, to: at }, total - top, lower, at),
      regionOf({ from: at, to: span.to }, top, at, upper),
    ];
  }
  const held = order === 'mixed' ? (total * taken) / times.length : times.indexOf(at);
  if (held < 1) return [whole];
  return [{ ...whole, firstCut: at, width: Math.max(finest, at - Math.max(lower, first)), held }];
}

/**
 * Cuts a slice in two whose pages never agree, so that each half has fewer pages or none to disagree with: at the median of
 * its records where the page shows it, else at the middle of its time. Null when there is no second to cut at.
 */
export function halve(
  span: Span,
  facts: { total: number; lower: number; upper: number },
  { times }: Sample,
): Region[] | null {
  const { total, lower, upper } = facts;
  const median = times.length * 2 > total ? (times[total >> 1] ?? lower) : lower;
  const middle = lower + Math.floor((upper - lower) / 2 / finest) * finest;
  const at = [median, middle].find((time) => time > lower && time < upper);
  if (at === undefined) return null;
  return splitAt(span, [at], total, lower, upper);
}

/** Cuts a span at given times, those that lie inside it. */
function splitAt(span: Span, cuts: readonly number[], total: number, lower: number, upper: number): Region[] {
  const inside = cuts.filter((at) => (span.from === null ? at >= lower : at > lower) && at < upper);
  const ends = [span.from, ...inside, span.to];
  return ends.slice(1).map((to, i) => {
    const from = ends[i] ?? null;
    return regionOf({ from, to }, total / 2, from ?? lower - finest, to ?? upper);
  });
}
