import type { CopyScope } from '@call-attribution/core';
import { printFilter, safeParse } from '@call-attribution/query-dsl';
import {
  byBegin,
  common,
  deliveredOf,
  gapOf,
  missing,
  proofOf,
  type Span,
  type Stretch,
  type Verdict,
  verdictOf,
} from '../proof.ts';
import { checkState, merged, type SyncPart, type SyncState } from './state.ts';

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
  return verdictOfState(checkState(state), period);
}

/** The same of a state that is known to be one. */
export function verdictOfState(
  { parts, only = [] }: SyncState,
  period: Span = { from: null, to: null },
): Verdict {
  const verdicts = parts.map((part) => verdictOfPart(part, period));

  // Calls of several filters are partly the same: what is counted is the part with the most.
  const most = [...verdicts].sort((a, b) => deliveredOf(b) - deliveredOf(a))[0];
  const gaps = verdicts
    .flatMap((one) => (one === most ? one.gaps : one.gaps.map((gap) => ({ ...gap, calls: 0 }))))
    .sort(byBegin);
  return {
    proof: proofOf(gaps),
    asked: period,
    proved: most?.proved ?? 0,
    gaps,
    notes: most?.notes ?? [],
    only: within(scopesOf(parts, period), served(only, period)),
    unasked: missing(merged(parts.flatMap(({ asked }) => asked)), period),
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

const served = (only: readonly CopyScope[], period: Span): CopyScope[] =>
  only.flatMap(({ filter, ...scope }) => {
    const both = common<string>(scope, period);
    return both === null ? [] : [{ filter, from: both.from, to: both.to }];
  });

/** What a copy has that was filled with a filter, from a server that has not all calls either. */
function within(own: readonly CopyScope[], of: readonly CopyScope[]): readonly CopyScope[] {
  if (own.length === 0 || of.length === 0) return [...own, ...of];
  const both = own.flatMap((one) =>
    of.flatMap((other) => {
      const span = common<string>(one, other);
      const filter = one.filter === other.filter ? one.filter : `${one.filter},${other.filter}`;
      return span === null ? [] : [{ filter, from: span.from, to: span.to }];
    }),
  );
  return both.length === 0 ? [...own, ...of] : both;
}

function verdictOfPart(
  { asked, stretches, firsts, countedTo }: SyncPart,
  period: Span,
): Omit<Verdict, 'only' | 'unasked'> {
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
