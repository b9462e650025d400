import { type Axis, onGrid } from './axis.ts';
import type { Span } from './span.ts';

/**
 * A span still to be cut into slices, with what is known of it: the records left (an estimate that the totals of read
 * slices keep true) and how wide a stretch held how many records when last looked at.
 */
export interface Region {
  readonly span: Span;
  /** The lower end to reckon from, also when the span itself is open below. */
  readonly lower: number;
  /** The upper end to reckon with, also when the span itself is open above. */
  readonly upper: number;
  readonly remaining: number;
  readonly width: number;
  readonly held: number;
  /** Where the first slice is to end, when a sample has shown it. */
  readonly firstCut: number | null;
}

/** A slice cut off the front of a region. */
export interface Cut {
  readonly span: Span;
  readonly expected: number;
  readonly width: number;
  /** The guess reaches far beyond what was seen: ask for the total with one row before asking for the records. */
  readonly probe: boolean;
}

/** The facts a cut depends on. */
export interface CutLimits {
  /** Records one slice may hold. */
  readonly capacity: number;
  /** The part of it to aim at: a slice that overflows costs a request. */
  readonly aimAt: number;
  /** Items before this position are settled, later ones may still come: no slice reaches across it. */
  readonly sealedBefore: number;
  readonly axis: Axis;
}

// What is left of a region becomes one slice when it is no more than this part of capacity.
const fullAt = 0.9;
// How much a slice may grow beyond the last one in one step.
const growth = 8;

/** A region over a span whose total is known. */
export function regionOf(
  span: Span,
  total: number,
  { lower, upper }: { readonly lower: number; readonly upper: number },
  { step }: Axis,
): Region {
  return {
    span,
    lower,
    upper,
    remaining: total,
    width: Math.max(step, upper - lower),
    held: total,
    firstCut: null,
  };
}

/** Cuts the next slice off the front of a region. The rest is null when nothing is left. */
export function cut<R extends Region>(region: R, limits: CutLimits): { slice: Cut; rest: R | null } {
  const aim = Math.max(1, limits.capacity * limits.aimAt);
  const { span, lower: from, remaining, firstCut } = region;
  const { axis } = limits;
  const end = Math.max(region.upper, from + axis.step);
  const factor = Math.min(growth, aim / Math.max(region.held, Number.MIN_VALUE));
  const width = Math.max(axis.step, onGrid(axis, region.width * factor));
  let to = remaining <= limits.capacity * fullAt ? end : Math.min(end, firstCut ?? from + width);
  if (from < limits.sealedBefore && to > limits.sealedBefore) to = limits.sealedBefore;
  const isLast = to >= end;
  const probe = firstCut === null && to - from > 2 * region.width && remaining > aim;
  const share = firstCut === to ? region.held : (region.held * (to - from)) / region.width;
  const expected = Math.max(0, isLast ? remaining : Math.min(remaining, share));
  return {
    slice: { span: { from: span.from, to: isLast ? span.to : to }, expected, width: to - from, probe },
    rest: isLast
      ? null
      : {
          ...region,
          firstCut: null,
          span: { from: to, to: span.to },
          lower: to,
          remaining: remaining - expected,
        },
  };
}

/**
 * Puts a slice's true total in place of what was expected, and takes its density for the next cut: together with half
 * of what was known before, so that chance evens out, but alone where the flow has changed.
 */
export function learn<R extends Region>(
  region: R,
  read: { expected: number; total: number; width: number },
): R {
  const { expected, total, width } = read;
  const isSteady = total < 2 * expected && expected < 2 * total;
  return {
    ...region,
    remaining: region.remaining + expected - total,
    held: isSteady ? total + region.held / 2 : total,
    width: isSteady ? width + region.width / 2 : width,
  };
}
