import type { Call } from '@call-attribution/core';
import { isFinalStatus } from '@call-attribution/core/record';
import { parseNaive } from '@call-attribution/core/time';
import { zones } from '../call-source.ts';
import { add, type CopyStretch, type Range, withLost } from '../proof.ts';
import type { Item } from '../reader/list.ts';
import type { Slice } from '../reader/slices.ts';
import { bounding, type SyncSettings } from './plan.ts';
import type { Part } from './state.ts';

/** A slice that was read, and its calls. */
export interface TakenSlice {
  readonly slice: Omit<Slice<Item>, 'items'>;
  /** The range that it is a slice of. */
  readonly range: Range;
  /** Those of its records that could be parsed. */
  readonly calls: readonly Pick<Call, 'date_added' | 'ppc_status'>[];
  /** When it was read, in milliseconds, and by which run. */
  readonly read: number;
  readonly run: number;
  /** What ends until then is counted at the end of the run. */
  readonly until: number;
}

/**
 * What a copy has of a filter, with one more slice.
 *
 * @param lost records of the slice that could not be parsed, or were not taken.
 */
export function take(
  before: Part,
  { slice, range, calls, read, run, until }: TakenSlice,
  lost: number,
  ages: Pick<SyncSettings, 'lookback' | 'settle'>,
): Part {
  const ats = calls.map((call) => parseNaive(call.date_added));
  const isOpen = calls.map((call) => !isFinalStatus(call.ppc_status));
  const countAt = (border: number | null): number => ats.filter((at) => at === border).length;
  const times = ats.filter((at) => at < read + zones);
  const latest = times.reduce((a, b) => Math.max(a, b), before.latest ?? -Infinity);
  const left = lost + (before.paged?.pages.left ?? 0);

  // A slice that holds the time up to which calls are counted comes in two stretches, with no call
  // at that time.
  const stretches = withLost(slice.stretches ?? [], left);
  let list = before.stretches;
  for (const [i, one] of stretches.entries()) {
    const isHere = (at: number): boolean => stretches.length === 1 || at < until === (i === 0);
    list = add(list, {
      ...one,
      read,
      run,
      ends: [countAt(one.from) + one.shared, countAt(one.to)],
      open: ats.filter((at, call) => isOpen[call] && isHere(at)).length,
    });

    // What lies at the ends of the range was read with its neighbors, too.
    for (const border of [one.from, one.to])
      if (border !== null && [range.from, range.to].includes(border)) list = sharing(list, border);
  }

  const { from, to, pages, pace } = slice;
  const last = latest === -Infinity ? null : latest;
  return {
    ...before,
    stretches: bounding(list, last, until, ages),
    latest: last,
    pace,
    paged: pages && { from, to, pages: { ...pages, left } },
  };
}

/**
 * The stretch behind a border has as many calls in common with the one before it as both have
 * there.
 */
function sharing(list: readonly CopyStretch[], border: number): CopyStretch[] {
  return list.map((one, i) => {
    const before = list[i - 1];
    if (one.from !== border || before?.to !== border || one.ends === undefined) return one;
    const shared = Math.min(one.ends[0], before.ends?.[1] ?? one.ends[0]);
    return { ...one, shared, calls: one.calls + one.shared - shared };
  });
}
