import { day, formatNaive, second } from '@call-attribution/core/time';
import { type FilterInput, printFilter } from '@call-attribution/query-dsl';
import type { TimeSlice } from '../calls/time-slice.ts';
import { windowQuery } from '../calls/window-query.ts';
import { endOf, startOf } from './stretches.ts';
import type { MovingPeriod } from './sync-options.ts';
import type { SyncPart } from './sync-state.ts';

/** A filter without its times, as text, and its times as a range. */
export function filterOf(
  input: FilterInput | undefined,
  version: 'v2' | 'v3',
): { readonly others: string; readonly range: TimeSlice } {
  const { filter, lower, upper } = windowQuery(input, version);
  const own = filter.clauses.find((clause) => clause.kind === 'range' && clause.field === 'date_added');
  const isExclusive = own?.kind === 'range' && own.lower?.inclusive === false;
  const others = filter.clauses.filter((clause) => clause.field !== 'date_added');
  return {
    others: printFilter({ clauses: others }),
    range: {
      from: lower === null ? null : formatNaive(lower + (isExclusive ? second : 0)),
      to: upper === null ? null : formatNaive(upper),
    },
  };
}

/**
 * The range that a run asks for. A period that moves begins no later than the latest call seen, or than what earlier runs
 * left unread, so that neither a pause nor a run that was interrupted leaves a gap.
 */
export function askedOf(
  range: TimeSlice,
  period: MovingPeriod | undefined,
  { stretches, latest }: Pick<SyncPart, 'stretches' | 'latest'>,
): TimeSlice {
  const ends = [range.to, period?.to ?? null].filter((end) => end !== null).sort();
  const starts = [range.from, period?.from ?? null].filter((start) => start !== null).sort();
  const to = ends[0] ?? null;
  const from = starts.at(-1) ?? null;
  if (period === undefined || from === null) return { from, to };
  const unread = stretches.filter(({ is }) => is === 'unread').map(startOf);
  const earliest = [from, ...unread, ...(latest === null ? [] : [latest])].sort()[0] ?? from;
  return { from: earliest === '' ? null : earliest, to };
}

/** Ages at which a read that begins with the newest calls is divided. */
const ages = [1, 7, 28, 91, 364];

/** Ranges in the order in which they are read. */
export function inOrder(spans: readonly TimeSlice[], order: 'oldest' | 'newest', now: number): TimeSlice[] {
  if (order === 'oldest') return [...spans];
  const borders = ages.map((age) => formatNaive(Math.floor(now / day - age) * day));
  return spans
    .flatMap((span) => {
      const inside = borders.filter((time) => time > startOf(span) && time < endOf(span)).sort();
      return [...inside, span.to].map((to, i) => ({
        from: i === 0 ? span.from : (inside[i - 1] ?? null),
        to,
      }));
    })
    .reverse();
}
