import type { CopyScope } from '@call-attribution/core';
import { parseTime } from '@call-attribution/core/time';
import { printFilter, safeParse } from '@call-attribution/query-dsl';
import { byBegin, type CopyStretch, common, missing, type Range, verdictOf } from '../proof.ts';
import { inTimes, rangeOf, spanOf } from '../times.ts';
import { deliveredOf, gapOf, proofOf, type Span, type Verdict } from '../verdict.ts';
import { checkState, merged, type Part, partsOf, type SyncState } from './state.ts';

/**
 * What the state of a sync proves of the calls of a period: over all that the copy was asked for, by
 * the last run or an earlier one. Null when no sync has begun.
 *
 * @param state as a sink or a state store keeps it.
 * @example
 * const verdict = copyVerdict(await sink.load());
 * if (verdict?.proof !== 'whole') console.error(describe(verdict).lacks);
 */
export function copyVerdict(
  state: unknown,
  period: Span = { from: null, to: null },
): Verdict | null {
  if (state === null || state === undefined) return null;
  const at = (time: string | null) =>
    time === null ? null : (parseTime(time)?.millis ?? Number.NaN);
  return verdictOfState(checkState(state), { from: at(period.from), to: at(period.to) });
}

/** The same of a state that is known to be one. */
export function verdictOfState(
  state: SyncState,
  period: Range = { from: null, to: null },
): Verdict {
  const parts = partsOf(state);
  const verdicts = parts.map((part) => verdictOfPart(part, period));

  // Calls of several filters are partly the same: what is counted is the part with the most.
  const most = [...verdicts].sort((a, b) => deliveredOf(b) - deliveredOf(a))[0];
  const gaps = verdicts
    .flatMap((one) => (one === most ? one.gaps : one.gaps.map((gap) => ({ ...gap, calls: 0 }))))
    .sort(byBegin);
  const served = (state.only ?? []).map(({ filter, ...scope }) => ({ filter, ...rangeOf(scope) }));
  const only = within(scopesOf(parts, period), inPeriod(served, period));
  return inTimes({
    proof: proofOf(gaps),
    asked: period,
    proved: most?.proved ?? 0,
    gaps,
    notes: most?.notes ?? [],
    unasked: missing(merged(parts.flatMap(({ asked }) => asked)), period),
    only: only.map(({ filter, ...scope }): CopyScope => ({ filter, ...spanOf(scope) })),
  });
}

/** A range of which a copy has the calls of a filter only. */
interface Scope extends Range {
  readonly filter: string;
}

/** Which calls of a period were left out by the filters that a copy was filled with. */
function scopesOf(parts: readonly Part[], period: Range): Scope[] {
  const filtered = parts.map((part) => {
    const read = safeParse(part.filter, { version: part.version });
    const clauses = read.ok ? read.filter.clauses.filter(({ kind }) => kind !== 'flag') : null;
    const filter = clauses === null ? part.filter : printFilter({ clauses });
    return { filter, asked: part.asked.flatMap((range) => common(range, period) ?? []) };
  });
  const whole = merged(filtered.flatMap(({ filter, asked }) => (filter === '' ? asked : [])));
  return filtered.flatMap(({ filter, asked }) => {
    if (filter === '' || asked.length === 0) return [];
    if (whole.length === 0) return [{ filter, from: null, to: null }];
    const left = merged(asked).flatMap((range) => missing(whole, range));
    return left.map(({ from, to }) => ({ filter, from, to }));
  });
}

const inPeriod = (scopes: readonly Scope[], period: Range): Scope[] =>
  scopes.flatMap((scope) => {
    const both = common(scope, period);
    return both === null ? [] : [{ filter: scope.filter, from: both.from, to: both.to }];
  });

/** What a copy has that was filled with a filter, from a server that has not all calls either. */
function within(own: readonly Scope[], of: readonly Scope[]): readonly Scope[] {
  if (own.length === 0 || of.length === 0) return [...own, ...of];
  const both = own.flatMap((one) =>
    inPeriod(of, one).map(({ filter, ...range }) => ({
      filter: one.filter === filter ? filter : `${one.filter},${filter}`,
      ...range,
    })),
  );
  return both.length === 0 ? [...own, ...of] : both;
}

function verdictOfPart(
  { asked, stretches, firsts, countedTo }: Part,
  period: Range,
): Omit<Verdict<number>, 'only' | 'unasked'> {
  // What a run has read that has not come to its end was not counted.
  const list = stretches.map(
    (one): CopyStretch =>
      one.is === 'proved' && one.at === null ? { ...one, is: 'unproven', why: 'uncounted' } : one,
  );
  const verdicts = asked
    .flatMap((range) => common(range, period) ?? [])
    .map((range) => verdictOf(list, range));
  const fell = firsts.flatMap(({ lacks, ...first }) =>
    lacks === undefined || common(first, period) === null ? [] : [gapOf(first, 'fell', lacks)],
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
