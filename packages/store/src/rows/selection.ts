import type { Filter, RangeClause } from '@call-attribution/query-dsl';
import { mostTenths, secondsOf, tenthsBound } from './wire-values.ts';

/** Everything a filter can say, as numbers: seconds half-open, talk tenths inclusive. */
export interface Selection {
  readonly from: number;
  readonly to: number;
  /** Null: any talk value, an absent one too. */
  readonly talk: { readonly from: number; readonly to: number } | null;
  readonly extensions: boolean;
}

// Whole numbers of the widest time bucket, beyond the years 0000 and 9999: an open end then costs no edge count.
const beginning = -(2 ** 37);
const end = 2 ** 38;

/** The selection that holds every call. */
export const everything: Selection = { from: beginning, to: end, talk: null, extensions: true };

/** Reads a checked filter. `extensions` is what the version does without `inc_gce:1`. */
export function selectionOf(filter: Filter, options: { extensions: boolean }): Selection {
  let selection: Selection = { ...everything, extensions: options.extensions };
  for (const clause of filter.clauses) {
    if (clause.kind === 'flag') selection = { ...selection, extensions: true };
    else if (clause.field === 'date_added') selection = withinDates(selection, clause);
    else if (clause.field === 'talk_minutes') selection = withinTalk(selection, clause);
    // The dialects know no further field; a silent pass here would widen the answer.
    else throw new Error(`The store cannot filter by ${clause.field}.`);
  }
  return selection;
}

function withinDates(selection: Selection, { lower, upper }: RangeClause): Selection {
  const from = lower === null ? beginning : seconds(lower.text) + (lower.inclusive ? 0 : 1);
  const to = upper === null ? end : seconds(upper.text) + (upper.inclusive ? 1 : 0);
  return { ...selection, from: Math.max(selection.from, from), to: Math.min(selection.to, to) };
}

function seconds(text: string): number {
  const at = secondsOf(text);
  if (at === null) throw new Error('A date bound passed the filter check but is no date.');
  return at;
}

function withinTalk(selection: Selection, { lower, upper }: RangeClause): Selection {
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
