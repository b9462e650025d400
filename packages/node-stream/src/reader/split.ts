import { itemAt } from '@call-attribution/core/errors';
import { type Axis, onGrid } from './axis.ts';
import type { PageView } from './page-view.ts';
import { type Region, regionOf } from './region.ts';
import type { Span } from './span.ts';

/** The positions on a page that did not hold its whole slice. They show how the items lie, and in which order they come. */
export interface Sample {
  readonly order: 'ascending' | 'descending' | 'mixed';
  /** Ascending. */
  readonly positions: readonly number[];
}

/** Reads the positions on a page. */
export function sampleOf(page: PageView, { first: least }: Axis): Sample {
  const times = Array.from({ length: page.count }, (_, i) => page.positionOf(i)).filter(
    (time) => time >= least,
  );
  const sorted = [...times].sort((a, b) => a - b);
  const steps = times.slice(1).map((time, i) => time - itemAt(times, i));
  if (times.length < 2 || sorted[0] === sorted.at(-1)) return { order: 'mixed', positions: sorted };
  if (steps.every((step) => step >= 0)) return { order: 'ascending', positions: sorted };
  return { order: steps.every((step) => step <= 0) ? 'descending' : 'mixed', positions: sorted };
}

/** How much of a sampled stretch the next slice takes: near full, since the sample shows its true density. */
const share = 0.85;

/**
 * The regions a span falls into. Rows in order show one end of it exactly: that end becomes one slice, and its
 * density the first guess for the rest. Rows in no order show the shape of the whole.
 */
export function regionsOf(
  span: Span,
  facts: { total: number; lower: number; upper: number; capacity: number },
  { order, positions }: Sample,
  axis: Axis,
): Region[] {
  const { total, lower, upper, capacity } = facts;
  const whole = regionOf(span, total, facts, axis);
  if (span.from === null && upper - lower <= axis.step) return splitAt(span, [lower], facts, axis);
  const [first, last] = [positions[0], positions.at(-1)];
  if (first === undefined || positions.length < 2) return [whole];
  // A page of one position is a heap to read by itself, unless a slice may have so many pages that heaps hardly matter.
  if (first === last && capacity > 8 * positions.length) return [whole];
  if (first === last) return splitAt(span, [first, first + axis.step], facts, axis);
  const part = order === 'mixed' ? Math.min(share, (share * capacity) / total) : share;
  const taken = Math.floor(positions.length * (order === 'descending' ? 1 - part : part));
  const at = itemAt(positions, taken);
  if (at <= lower || at >= upper) return [whole];
  if (order === 'descending') {
    const top = positions.length - positions.indexOf(at);
    return [
      regionOf({ from: span.from, to: at }, total - top, { lower, upper: at }, axis),
      regionOf({ from: at, to: span.to }, top, { lower: at, upper }, axis),
    ];
  }
  const held = order === 'mixed' ? (total * taken) / positions.length : positions.indexOf(at);
  if (held < 1) return [whole];
  return [{ ...whole, firstCut: at, width: Math.max(axis.step, at - Math.max(lower, first)), held }];
}

/**
 * Cuts a slice in two whose pages never agree, so that each half has fewer pages or none to disagree with: at the median of
 * its records where the page shows it, else at the middle of its range. Null when there is no position to cut at.
 */
export function halve(
  span: Span,
  facts: { total: number; lower: number; upper: number },
  { positions }: Sample,
  axis: Axis,
): Region[] | null {
  const { total, lower, upper } = facts;
  const median = positions.length * 2 > total ? (positions[total >> 1] ?? lower) : lower;
  const middle = lower + onGrid(axis, (upper - lower) / 2);
  const at = [median, middle].find((time) => time > lower && time < upper);
  if (at === undefined) return null;
  return splitAt(span, [at], facts, axis);
}

/** Cuts a span at given positions, those that lie inside it. */
function splitAt(
  span: Span,
  cuts: readonly number[],
  { total, lower, upper }: { readonly total: number; readonly lower: number; readonly upper: number },
  axis: Axis,
): Region[] {
  const inside = cuts.filter((at) => (span.from === null ? at >= lower : at > lower) && at < upper);
  const ends = [span.from, ...inside, span.to];
  return ends.slice(1).map((to, i) => {
    const from = ends[i] ?? null;
    return regionOf({ from, to }, total / 2, { lower: from ?? lower - axis.step, upper: to ?? upper }, axis);
  });
}
