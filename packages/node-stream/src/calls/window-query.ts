import { formatNaive, parseNaive, second } from '@call-attribution/core/time';
import {
  type Bound,
  type Clause,
  type Filter,
  type FilterInput,
  printFilter,
  simplify,
  toFilter,
} from '@call-attribution/query-dsl';
import type { BoundStyle, Span } from '../reader/span.ts';
import { spanOf, type TimeSlice } from './time-slice.ts';

/** A filter whose range of `date_added` can be cut. */
export interface WindowQuery {
  /** The whole filter in one canonical form. */
  readonly filter: Filter;
  /** Where the query itself begins and ends, in naive milliseconds, the end not included; null when open. */
  readonly lower: number | null;
  readonly upper: number | null;
  /** Whether the query itself has a bound written with `{` or `}`. */
  readonly hasExclusiveBound: boolean;
  /** The filter of one span of the query. */
  within(span: Span, style: BoundStyle): Filter;
}

/** Separates the range of `date_added` from the rest of a filter. */
export function windowQuery(input: FilterInput | undefined, version: 'v2' | 'v3'): WindowQuery {
  const filter = simplify(toFilter(input ?? '', { version }));
  const others = filter.clauses.filter((clause) => clause.field !== 'date_added');
  const own = filter.clauses.find((clause) => clause.kind === 'range' && clause.field === 'date_added');
  const lower = own?.kind === 'range' ? own.lower : null;
  const upper = own?.kind === 'range' ? own.upper : null;
  return {
    filter,
    lower: lower && parseNaive(lower.text),
    upper: upper && parseNaive(upper.text) + (upper.inclusive ? second : 0),
    hasExclusiveBound: lower?.inclusive === false || upper?.inclusive === false,
    within(span, style) {
      const from = span.from === null ? lower : { text: formatNaive(span.from), inclusive: true };
      const to = span.to === null ? upper : { text: formatNaive(span.to), inclusive: false };
      if (from === null && to === null) return { clauses: own ? [...others, own] : others };
      const range: Clause = {
        kind: 'range',
        field: 'date_added',
        lower: style === 'closed' ? shut(from, second) : from,
        upper: style === 'closed' ? shut(to, -second) : to,
      };
      return { clauses: [range, ...others] };
    },
  };
}

function shut(bound: Bound | null, step: number): Bound | null {
  if (bound === null || bound.inclusive) return bound;
  return { text: formatNaive(parseNaive(bound.text) + step), inclusive: true };
}

/**
 * The filter of one slice of a query.
 *
 * @param bounds how the upper end is written; servers of both versions know `closed`.
 * @example
 * sliceFilter('inc_gce:1', { from: null, to: '2026-11-01 00:00:00' }, 'half-open', 'v3');
 * // date_added:[* TO 2026-11-01 00:00:00},inc_gce:1
 */
export function sliceFilter(
  filter: FilterInput | undefined,
  slice: TimeSlice,
  bounds: BoundStyle,
  version: 'v2' | 'v3',
): string {
  return printFilter(windowQuery(filter, version).within(spanOf(slice), bounds));
}
