import { formatNaive } from '@call-attribution/core/time';

/**
 * A half-open stretch of `date_added` in naive milliseconds. A null end is the query's own end: its bound as the caller
 * wrote it, or open.
 */
export interface Span {
  readonly from: number | null;
  readonly to: number | null;
}

/** A slice as people and checkpoints see it: half-open, naive times, null for the query's own end. */
export interface Slice {
  readonly from: string | null;
  readonly to: string | null;
}

/** The finest cut the API allows: `date_added` has whole seconds. */
export const finest = 1000;

/** The text form of a span. */
export function sliceOf(span: Span): Slice {
  return { from: textOf(span.from), to: textOf(span.to) };
}

/** How a slice reads in a message. */
export function describeSlice(slice: Slice): string {
  if (slice.from === null && slice.to === null) return 'the whole query';
  return `date_added [${slice.from ?? '*'} TO ${slice.to ?? '*'}${slice.to === null ? ']' : '}'}`;
}

function textOf(millis: number | null): string | null {
  return millis === null ? null : formatNaive(millis);
}
