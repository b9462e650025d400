import type { Axis } from './axis.ts';
import type { BoundStyle, Span } from './span.ts';

// Questions to the server are requests with one row, for the total of a range.

/** What the reader finds out by a request of its own, for one slice. `id` is the number of that request. */
export type Question = { readonly id: number; readonly slice: number } & Query;

type Query =
  /**
   * Is the upper end of `[a TO b}` left out? Asked with the position of a known item as both ends: a source that leaves it
   * out finds nothing.
   */
  | { readonly kind: 'style'; readonly known: number }
  /** Where do the records begin? Walks back from a known item in growing steps until few records lie before. */
  | { readonly kind: 'lower'; readonly at: number; readonly back: number; readonly few: number }
  /** Are there items where there cannot be any? Then the source does not filter by position. */
  | { readonly kind: 'past' | 'future' };

/** A question without its numbers. */
export type NewQuestion = Query;

/** The range whose total answers a question. */
export function rangeOf(
  question: NewQuestion,
  style: BoundStyle | null,
  { first, last, step }: Axis,
): { span: Span; style: BoundStyle } {
  const known = style ?? 'half-open';
  switch (question.kind) {
    case 'style':
      return { span: { from: question.known, to: question.known }, style: 'half-open' };
    case 'lower':
      return { span: { from: null, to: question.at }, style: known };
    case 'past':
      return { span: { from: first, to: first + step }, style: known };
    case 'future':
      return { span: { from: last, to: last + step }, style: known };
  }
}

/** What the total that answers `style` says; null when the server refused the range, or gave no total. */
export function styleOf(total: number | null): BoundStyle {
  return total === 0 ? 'half-open' : 'closed';
}

/** What the total that answers `past` or `future` says: the next question, or whether the source filters by position. */
export function afterDoubt(kind: 'past' | 'future', total: number | null): NewQuestion | boolean {
  return total === 0 && kind === 'past' ? { kind: 'future' } : total === 0;
}

/** The search for a lower end: `stretch` is a length known to hold items, `few` the records that need no further step. */
export function searchLower(known: number, stretch: number, few: number, { near }: Axis): NewQuestion {
  return { kind: 'lower', at: known, back: Math.max(stretch, near), few };
}

/** The next step of that search, or the lower end once it is found. */
export function nextLower(
  { at, back, few }: Extract<NewQuestion, { kind: 'lower' }>,
  total: number | null,
  { first }: Axis,
): NewQuestion | number {
  if (total === null || total <= few) return at;
  const next = Math.max(first, at - back);
  return next > first ? { kind: 'lower', at: next, back: back * 8, few } : first;
}
