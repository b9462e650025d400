import type { TimeSlice } from '../calls/time-slice.ts';
import { mostCounts, pagesPerCount } from '../reader/settled.ts';
import type { VerdictReason } from '../reader/verdict.ts';
import { endOf, put, type Stretch, type Stretches, startOf } from './stretches.ts';

/**
 * The stretches to count, in groups of neighbors. What was read in this run is counted in several groups, so that calls that
 * were lost and calls that came late do not cancel out; what was proved before adds no group.
 *
 * @param until only what ends until then: no call is expected to come or go there.
 */
function groupsOf(list: Stretches, until: string, rows: number): Stretch[][] {
  const fresh = (stretch: Stretch): number => (stretch.is === 'read' ? (stretch.calls ?? 0) : 0);
  const sum = list.reduce((all, stretch) => all + fresh(stretch), 0);
  const perGroup = Math.max(pagesPerCount * rows, sum / mostCounts);
  const groups: Stretch[][] = [];
  let calls = 0;
  for (const stretch of list) {
    if (stretch.is === 'unread' || isPart(stretch) || endOf(stretch) > until) continue;
    const last = groups.at(-1);
    const before = last?.at(-1);
    const isNext = before !== undefined && endOf(before) === startOf(stretch) && calls < perGroup;
    if (last !== undefined && isNext) {
      last.push(stretch);
      calls += fresh(stretch);
    } else {
      groups.push([stretch]);
      calls = fresh(stretch);
    }
  }
  return groups;
}

/** What is left of a stretch that was cut: it stays what it was when it was counted, until it is read again. */
const isPart = ({ calls, at }: Stretch): boolean => calls === null && at !== null;

/** What a count says of a group: its stretches as they are now, or null when it has to be counted in parts. */
function countedAs(group: Stretches, expected: number | null, at: number): Stretch[] | null {
  const [only] = group;
  if (only === undefined) return [];
  // What was proved before stays so; what was read waits for a later count.
  if (expected === null)
    return group.map((one) =>
      one.is === 'read' ? { ...one, reasons: [{ code: 'recount_failed', count: null }] } : one,
    );
  const known = sumOf(group);
  if (agrees(group, expected)) return group.map((one) => proved(one, expected - known, at));
  if (group.length > 1) return null;
  const count = Math.abs(expected - known);
  const code = expected > known ? 'count_rose' : 'count_fell';
  return [faulty(only, [...lasting(only), { code, count }], only.calls)];
}

/** Whether a count is what was read. Of one stretch it need not be known. */
function agrees(group: Stretches, expected: number): boolean {
  const unknown = group.filter(({ calls }) => calls === null).length;
  const known = sumOf(group);
  return unknown === 0 ? expected === known : unknown === 1 && expected >= known;
}

/** The range of neighbors. */
const rangeOf = (group: Stretches): TimeSlice => ({
  from: group[0]?.from ?? null,
  to: group.at(-1)?.to ?? null,
});

const sumOf = (group: Stretches): number => group.reduce((sum, { calls }) => sum + (calls ?? 0), 0);

/** Calls of a group; null when it is not known of each stretch. */
const knownOf = (group: Stretches): number | null =>
  group.some(({ calls }) => calls === null) ? null : sumOf(group);

/** Reasons that no count removes. */
const lasting = ({ reasons = [] }: Stretch): VerdictReason[] =>
  reasons.filter(({ code }) => code === 'skipped');

function proved(stretch: Stretch, rest: number, at: number): Stretch {
  const reasons = lasting(stretch);
  const calls = stretch.calls ?? rest;
  if (reasons.length > 0) return faulty(stretch, reasons, calls);
  const { from, to, again } = stretch;
  return { from, to, is: 'whole', calls, at, ...(again ? { again } : {}) };
}

/** A stretch that is not whole for these reasons. */
export function faulty(
  { from, to, at }: Stretch,
  reasons: readonly VerdictReason[],
  calls: number | null,
): Stretch {
  const missing = reasons
    .filter(({ code }) => code === 'skipped' || code === 'count_rose')
    .reduce((sum, { count }) => sum + (count ?? 0), 0);
  return {
    from,
    to,
    is: missing > 0 ? 'short' : 'unproven',
    calls,
    at,
    reasons,
    ...(missing > 0 ? { missing } : {}),
  };
}

/**
 * Counts a copy: each group at once, and a group whose count differs in halves, until it is known which stretches differ.
 *
 * @param count asks the server for the count of a range, of which so many were read; null when it gives none.
 */
export async function countStretches(
  list: Stretches,
  { until, rows, at }: { readonly until: string; readonly rows: number; readonly at: number },
  count: (range: TimeSlice, read: number | null) => Promise<number | null>,
): Promise<Stretch[]> {
  let counted = [...list];
  const settle = async (group: Stretches, given: number | null): Promise<void> => {
    const range = rangeOf(group);
    // Calls come and go between two counts: their difference shows where to look on, and proves nothing.
    const isHint = given !== null && !agrees(group, given);
    await judge(group, isHint ? given : await count(range, knownOf(group)));
  };
  const judge = async (group: Stretches, expected: number | null): Promise<void> => {
    const found = countedAs(group, expected, at);
    if (found !== null) {
      counted = put(counted, rangeOf(group), found);
      return;
    }
    const half = group.length >> 1;
    const [left, right] = [group.slice(0, half), group.slice(half)];
    const inLeft = await count(rangeOf(left), knownOf(left));
    await judge(left, inLeft);
    await settle(right, inLeft === null || expected === null ? null : expected - inLeft);
  };
  for (const group of groupsOf(list, until, rows)) await settle(group, null);
  return counted;
}

/** Whether a count found another number of calls than was read. */
export const differs = ({ is, reasons = [] }: Stretch): boolean =>
  (is === 'short' || is === 'unproven') &&
  reasons.some(({ code }) => code === 'count_rose' || code === 'count_fell' || code === 'total_fell');
