import type { Filter, RangeClause } from '@call-attribution/query-dsl';
import { StoreError } from '../database/errors.ts';
import { mostTenths, noTime, secondsOf, tenthsBound } from './wire-values.ts';

/** A filter as numbers. */
export interface NumericFilter {
  /** The first second of `date_added`, counted from 1970 on the clock of the API. */
  readonly from: number;
  /** The second after the last one. */
  readonly to: number;
  /** Talk time in tenths of a minute, both ends included. Null: any talk time, or none. */
  readonly talk: { readonly from: number; readonly to: number } | null;
  /** Are calls from call extensions included? */
  readonly extensions: boolean;
}

// Multiples of the widest time bucket, outside the years 0000 to 9999, so that an open end has no edge to count.
const beginning = noTime + 2 ** 25;
const end = 2 ** 38;

/** Selects every call, also those without a usable date. */
export const everything: NumericFilter = { from: noTime, to: end, talk: null, extensions: true };

/**
 * The selection of a parsed filter. `extensions` says whether calls from call extensions are included when the filter does not
 * have `inc_gce:1`: true in v2, false in v3.
 *
 * @example
 * const filter = parse('talk_minutes:[2 TO *]', { version: 'v3' });
 * await store.count('101', selectionOf(filter, { extensions: false }));
 */
export function selectionOf(filter: Filter, options: { extensions: boolean }): NumericFilter {
  let selection: NumericFilter = { ...everything, extensions: options.extensions };
  for (const clause of filter.clauses) {
    if (clause.kind === 'flag') selection = { ...selection, extensions: true };
    else if (clause.field === 'date_added') selection = withinDates(selection, clause);
    else if (clause.field === 'talk_minutes') selection = withinTalk(selection, clause);
    // Ignoring a field here would select more calls than the filter does.
    else throw new StoreError('unfit_filter', `The store cannot filter by ${clause.field}.`);
  }
  return selection;
}

function withinDates(selection: NumericFilter, { lower, upper }: RangeClause): NumericFilter {
  // A filter on the date finds no call without one.
  const from = lower === null ? beginning : seconds(lower.text) + Number(!lower.inclusive);
  const to = upper === null ? end : seconds(upper.text) + Number(upper.inclusive);
  return { ...selection, from: Math.max(selection.from, from), to: Math.min(selection.to, to) };
}

function seconds(text: string): number {
  const at = secondsOf(text);
  if (at === null)
    throw new StoreError('unfit_filter', 'A bound of date_added passed the filter check, but is not a date.');
  return at;
}

function withinTalk(selection: NumericFilter, { lower, upper }: RangeClause): NumericFilter {
  const before = selection.talk ?? { from: 0, to: mostTenths };
  const talk = {
    from: Math.max(before.from, lower === null ? 0 : lowest(lower)),
    to: Math.min(before.to, upper === null ? mostTenths : highest(upper)),
  };
  return { ...selection, talk };
}

function lowest({ text, inclusive }: { text: string; inclusive: boolean }): number {
  const { floor, exact } = tenthsBound(text);
  return exact && inclusive ? floor : floor + 1;
}

function highest({ text, inclusive }: { text: string; inclusive: boolean }): number {
  const { floor, exact } = tenthsBound(text);
  return exact && !inclusive ? floor - 1 : floor;
}
