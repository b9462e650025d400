import {
  everything,
  type Period,
  type PeriodText,
  periodOfText,
  textOf,
} from '@call-attribution/core/time';
import { allOf, type Clause, type Filter } from '@call-attribution/query-dsl';

/**
 * The period of a range that was saved: of a receipt, a job or the state of a sync. One without
 * ends has every call, also those without a time.
 */
export const periodOfRange = (range: PeriodText): Period =>
  range.from === null && range.to === null ? everything : periodOfText(range);

/** The clause of a range; its end does not belong to it. */
export function rangeOf(field: string, { from, to }: PeriodText): Clause {
  return {
    kind: 'range',
    field,
    lower: from === null ? null : { text: from, inclusive: true },
    upper: to === null ? null : { text: to, inclusive: false },
  };
}

/** The filter, and only calls of the period as well. */
export function inPeriod(filter: Filter, period: Period): Filter {
  if (period.from === null && period.to === null) return filter;
  return allOf(filter, { clauses: [rangeOf('date_added', textOf(period))] });
}

/** The filter without its range of `date_added`. */
export const withoutTimes = ({ clauses }: Filter): Filter => ({
  clauses: clauses.filter(({ field }) => field !== 'date_added'),
});

/**
 * The filter, with calls through call extensions included. v3 leaves them out by default, v2 always
 * has them.
 */
export function withExtensions(filter: Filter, version: 'v2' | 'v3'): Filter {
  if (!leavesExtensions(filter, version)) return filter;
  return { clauses: [...filter.clauses, { kind: 'flag', field: 'inc_gce' }] };
}

/** Whether the API leaves out calls through call extensions. */
export const leavesExtensions = ({ clauses }: Filter, version: 'v2' | 'v3'): boolean =>
  version === 'v3' && !clauses.some(({ kind }) => kind === 'flag');

/**
 * How calls through call extensions are counted, where numbers could differ because of that; empty
 * when there are none. `leftOut` is null where v3 leaves them out and nobody has counted them.
 */
export async function countedText(extensions: {
  readonly counted: number;
  readonly leftOut: number | null;
}): Promise<string> {
  const { counted, leftOut } = extensions;
  if (counted === 0 && leftOut === 0) return '';
  const { extensionsSentence } = await import('@call-attribution/questions');
  const sentence = extensionsSentence(extensions);
  return leftOut === 0 ? sentence : `${sentence} --include-extensions adds them.`;
}
