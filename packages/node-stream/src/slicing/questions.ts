import { earliest, finest, type Span } from '../query/time-slice.ts';
import type { BoundStyle } from '../query/window-query.ts';

// Questions to the server are requests with one row, for the total of a range.

/** What the reader finds out by a request of its own, for one slice. `id` is the number of that request. */
export type Question = { readonly id: number; readonly slice: number } & Query;

type Query =
  /**
   * Is the upper end of `[a TO b}` left out? Asked with the second of a known call as both ends: a server that knows `}`
   * finds nothing. `}` is documented for v2 only.
   */
  | { readonly kind: 'style'; readonly known: number }
  /** Where do the records begin? Walks back from a known call in growing steps until few records lie before. */
  | { readonly kind: 'lower'; readonly at: number; readonly back: number; readonly few: number }
  /** Are there calls in a second where there cannot be any? Then the server does not filter by `date_added`. */
  | { readonly kind: 'past' | 'future' };

/** A question without its numbers. */
export type NewQuestion = Query;

const latest = Date.UTC(9999, 11, 31);

/** The range whose total answers a question. */
export function rangeOf(question: NewQuestion, style: BoundStyle | null): { span: Span; style: BoundStyle } {
  const known = style ?? 'half-open';
  switch (question.kind) {
    case 'style':
      return { span: { from: question.known, to: question.known }, style: 'half-open' };
    case 'lower':
      return { span: { from: null, to: question.at }, style: known };
    case 'past':
      return { span: { from: earliest, to: earliest + finest }, style: known };
    case 'future':
      return { span: { from: latest, to: latest + finest }, style: known };
  }
}

/** What the total that answers `style` says; null when the server refused the range, or gave no total. */
export function styleOf(total: number | null): BoundStyle {
  return total === 0 ? 'half-open' : 'closed';
}

/** What the total that answers `past` or `future` says: the next question, or whether the server filters by `date_added`. */
export function afterDoubt(kind: 'past' | 'future', total: number | null): NewQuestion | boolean {
  return total === 0 && kind === 'past' ? { kind: 'future' } : total === 0;
}

/** The search for a lower end: `step` is a stretch known to hold calls, `few` the records that need no further step. */
export function searchLower(known: number, step: number, few: number): NewQuestion {
  return { kind: 'lower', at: known, back: Math.max(step, 3600 * finest), few };
}

/** The next step of that search, or the lower end once it is found. */
export function nextLower(
  { at, back, few }: Extract<NewQuestion, { kind: 'lower' }>,
  total: number | null,
): NewQuestion | number {
  if (total === null || total <= few) return at;
  const next = Math.max(earliest, at - back);
  return next > earliest ? { kind: 'lower', at: next, back: back * 8, few } : earliest;
}
