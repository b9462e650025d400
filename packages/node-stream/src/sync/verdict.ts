import { printFilter, safeParse } from '@call-attribution/query-dsl';
import {
  byBegin,
  type CopyScope,
  common,
  deliveredOf,
  describeGaps,
  gapOf,
  missing,
  placeOf,
  proofOf,
  type Span,
  type Stretch,
  type Verdict,
  verdictOf,
} from '../proof.ts';
import { checkState, merged, type SyncPart, type SyncState } from './state.ts';

/**
 * What a copy proves of its calls: over all that it was asked for, by this run or an earlier one.
 */
export interface CopyVerdict extends Verdict {
  /** Calls of the server, as far as they were counted. */
  readonly calls: number;
  /** Those of them that are known to be missing. */
  readonly missing: number;
  /** Where it was filled with a filter, and not with all calls. */
  readonly only: readonly CopyScope[];
}

/**
 * What the state of a sync proves of the calls of a period. Null when no sync has begun.
 *
 * @param state as a sink or a state store keeps it.
 * @example
 * const verdict = copyVerdict(await sink.load());
 * if (verdict?.proof !== 'whole') console.error(describeCopy(verdict));
 */
export function copyVerdict(
  state: unknown,
  period: Span = { from: null, to: null },
): CopyVerdict | null {
  if (state === null || state === undefined) return null;
  return verdictOfState(checkState(state), period);
}

/** The same of a state that is known to be one. */
export function verdictOfState(
  { parts }: SyncState,
  period: Span = { from: null, to: null },
): CopyVerdict {
  const verdicts = parts.map((part) => verdictOfPart(part, period));

  // Calls of several filters are partly the same: what is counted is the part with the most.
  const most = [...verdicts].sort((a, b) => deliveredOf(b) - deliveredOf(a))[0];
  const gaps = verdicts
    .flatMap((one) => (one === most ? one.gaps : one.gaps.map((gap) => ({ ...gap, calls: 0 }))))
    .sort(byBegin);
  const lost = gaps.reduce((sum, gap) => sum + (gap.missing ?? 0), 0);
  return {
    proof: proofOf(gaps),
    asked: period,
    proved: most?.proved ?? 0,
    gaps,
    notes: most?.notes ?? [],
    calls: (most === undefined ? 0 : deliveredOf(most)) + lost,
    missing: lost,
    only: scopesOf(parts, period),
  };
}

/** Which calls of a period were left out by the filters that a copy was filled with. */
function scopesOf(parts: readonly SyncPart[], period: Span): CopyScope[] {
  const filtered = parts.map((part) => {
    const read = safeParse(part.filter, { version: part.version });
    const clauses = read.ok ? read.filter.clauses.filter(({ kind }) => kind !== 'flag') : null;
    const filter = clauses === null ? part.filter : printFilter({ clauses });
    return { filter, asked: part.asked.flatMap((span) => common(span, period) ?? []) };
  });
  const whole = merged(filtered.flatMap(({ filter, asked }) => (filter === '' ? asked : [])));
  return filtered.flatMap(({ filter, asked }) => {
    if (filter === '' || asked.length === 0) return [];
    if (whole.length === 0) return [{ filter, from: null, to: null }];
    const left = merged(asked).flatMap((span) => missing(whole, span));
    return left.map(({ from, to }) => ({ filter, from, to }));
  });
}

function verdictOfPart({ asked, stretches, firsts, countedTo }: SyncPart, period: Span): Verdict {
  // What a run has read that has not come to its end was not counted.
  const list = stretches.map(
    (one): Stretch =>
      one.is === 'proved' && one.at === null ? { ...one, is: 'unproven', why: 'uncounted' } : one,
  );
  const verdicts = asked
    .flatMap((span) => common(span, period) ?? [])
    .map((span) => verdictOf(list, span));
  const fell = firsts.flatMap(({ lacks, ...first }) =>
    lacks === undefined || common<string>(first, period) === null
      ? []
      : [gapOf(first, 'fell', lacks)],
  );
  const all = [...verdicts.flatMap(({ gaps }) => gaps), ...fell];
  const last = stretches.filter((one) => common(one, period) !== null).at(-1);
  const isYoung =
    countedTo !== null && last !== undefined && (last.to === null || last.to > countedTo);
  return {
    proof: proofOf(all),
    asked: period,
    proved: verdicts.reduce((sum, { proved }) => sum + proved, 0),
    gaps: all,
    notes: isYoung ? [{ code: 'young', from: countedTo }] : [],
  };
}

/**
 * What a copy lacks, in words; null when it is whole.
 *
 * @example
 * describeCopy(verdict); // the server gave fewer calls than it counts until 2026-10-04 00:00:00:
 * 100 calls are missing
 */
export const describeCopy = ({ gaps }: Pick<Verdict, 'gaps'>): string | null =>
  gaps.length === 0 ? null : describeGaps(gaps).join('; ');

/**
 * Which calls a copy has, where it was filled with a filter, in words; null when it was filled with
 * all calls.
 *
 * @example
 * describeScope(verdict); // only calls with talk_minutes:[5 TO *]
 */
export function describeScope({ only = [] }: Pick<Verdict, 'only'>): string | null {
  const places = new Map<string, string[]>();
  for (const { filter, from, to } of only) {
    const place = from === null && to === null ? '' : `${placeOf({ from, to })} `;
    places.set(place, [...(places.get(place) ?? []), filter]);
  }

  const said = [...places].map(([place, filters]) => {
    return `${place}only calls with ${[...new Set(filters)].join(', or with ')}`;
  });
  return said.length === 0 ? null : said.join('; ');
}
