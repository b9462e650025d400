import type { Span } from '../query/time-slice.ts';

// Ends compare as numbers when the query's own ends are the infinities.
const low = (span: Span): number => span.from ?? Number.NEGATIVE_INFINITY;
const high = (span: Span): number => span.to ?? Number.POSITIVE_INFINITY;
const spanOf = (from: number, to: number): Span => ({
  from: from === Number.NEGATIVE_INFINITY ? null : from,
  to: to === Number.POSITIVE_INFINITY ? null : to,
});

/** The union of the spans and one more: sorted, with neighbours that touch joined. */
export function addSpan(spans: readonly Span[], added: Span): Span[] {
  const joined: Span[] = [];
  for (const span of [...spans, added].sort((a, b) => low(a) - low(b))) {
    const last = joined.at(-1);
    if (last !== undefined && low(span) <= high(last)) {
      joined[joined.length - 1] = spanOf(low(last), Math.max(high(last), high(span)));
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
    if (low(span) > from) open.push(spanOf(from, low(span)));
    from = high(span);
  }
  if (from < Number.POSITIVE_INFINITY) open.push(spanOf(from, Number.POSITIVE_INFINITY));
  return open;
}
