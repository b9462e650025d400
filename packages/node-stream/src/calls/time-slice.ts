import { formatNaive, parseNaive } from '@call-attribution/core/time';
import type { Span } from '../reader/span.ts';

/** A range of `date_added`, as naive times: `from` is included, `to` is not. Null is the query's own end. */
export interface TimeSlice {
  /** First time of the slice, as `YYYY-MM-DD HH:MM:SS`. */
  readonly from: string | null;
  /** First time after the slice. */
  readonly to: string | null;
}

/** A span with its ends as strings. */
export function timeSliceOf({ from, to }: Span): TimeSlice {
  return { from: from === null ? null : formatNaive(from), to: to === null ? null : formatNaive(to) };
}

/** A span read back from strings. */
export function spanOf({ from, to }: TimeSlice): Span {
  return { from: from === null ? null : parseNaive(from), to: to === null ? null : parseNaive(to) };
}

/** How a slice reads in a message. */
export function describeSlice({ from, to }: TimeSlice): string {
  if (from === null && to === null) return 'the whole query';
  return `date_added [${from ?? '*'} TO ${to ?? '*'}${to === null ? ']' : '}'}`;
}
