import { type Span, spanOf, type TimeSlice, timeSliceOf } from './time-slice.ts';

// Ends compare as numbers when the query's own ends are the infinities.
const low = (span: Span): number => span.from ?? Number.NEGATIVE_INFINITY;
const high = (span: Span): number => span.to ?? Number.POSITIVE_INFINITY;
const between = (from: number, to: number): Span => ({
  from: from === Number.NEGATIVE_INFINITY ? null : from,
  to: to === Number.POSITIVE_INFINITY ? null : to,
});

/** The union of the spans and one more: sorted, with neighbours that touch joined. */
export function addSpan(spans: readonly Span[], added: Span): Span[] {
  const joined: Span[] = [];
  for (const span of [...spans, added].sort((a, b) => low(a) - low(b))) {
    const last = joined.at(-1);
    if (last !== undefined && low(span) <= high(last)) {
      joined[joined.length - 1] = between(low(last), Math.max(high(last), high(span)));
    } else {
      joined.push(span);
    }
  }
  return joined;
}

/** What the spans leave out of the whole query, in order. */
export function openSpans(spans: readonly Span[]): Span[] {
  const open: Span[] = [];
  let from = Number.NEGATIVE_INFINITY;
  for (const span of spans) {
    if (low(span) > from) open.push(between(from, low(span)));
    from = high(span);
  }
  if (from < Number.POSITIVE_INFINITY) open.push(between(from, Number.POSITIVE_INFINITY));
  return open;
}

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
  const spans = done.map(spanOf).filter((span) => low(span) < high(span));
  return openSpans([...spans, ...outside].reduce<Span[]>(addSpan, [])).map(timeSliceOf);
}
