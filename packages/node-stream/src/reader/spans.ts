import type { Span } from './span.ts';

// Ends compare as numbers when the read's own ends are the infinities.
const low = (span: Span): number => span.from ?? Number.NEGATIVE_INFINITY;
const high = (span: Span): number => span.to ?? Number.POSITIVE_INFINITY;
const between = (from: number, to: number): Span => ({
  from: from === Number.NEGATIVE_INFINITY ? null : from,
  to: to === Number.POSITIVE_INFINITY ? null : to,
});

/** The union of the spans and one more: sorted, with neighbors that touch joined. */
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

/** What the spans leave out of the whole read, in order. */
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
