import type { Span } from '../reader/span.ts';
import { addSpan, isEmpty, openSpans } from '../reader/spans.ts';
import { spanOf, type TimeSlice, timeSliceOf } from './time-slice.ts';

/**
 * What a set of slices leaves open of a whole, in order of time. The slices may lie in any order, touch or overlap.
 *
 * @example
 * openSlices([{ from: null, to: '2026-02-01 00:00:00' }], { from: null, to: '2026-03-01 00:00:00' });
 * // [{ from: '2026-02-01 00:00:00', to: '2026-03-01 00:00:00' }]
 */
export function openSlices(done: readonly TimeSlice[], whole: TimeSlice): TimeSlice[] {
  const { from, to } = spanOf(whole);
  const outside = [
    ...(from === null ? [] : [{ from: null, to: from }]),
    ...(to === null ? [] : [{ from: to, to: null }]),
  ];
  const spans = done.map(spanOf).filter((span) => !isEmpty(span));
  return openSpans([...spans, ...outside].reduce<Span[]>(addSpan, [])).map(timeSliceOf);
}
