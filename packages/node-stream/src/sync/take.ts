import type { Call } from '@call-attribution/core';
import { isFinalStatus } from '@call-attribution/core/record';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { zones } from '../call-source.ts';
import { add, type Span, type Stretch, withLost } from '../proof.ts';
import type { Item } from '../reader/list.ts';
import type { Slice } from '../reader/slices.ts';
import { bounding, type SyncSettings } from './plan.ts';
import type { SyncPart } from './state.ts';

/** A slice that was read, and its calls. */
export interface TakenSlice {
  readonly slice: Omit<Slice<Item>, 'items'>;
  /** The range that it is a slice of. */
  readonly range: Span;
  /** Those of its records that could be parsed. */
  readonly calls: readonly Pick<Call, 'date_added' | 'ppc_status'>[];
  /** The ends of a range, as text. */
  spanOf(span: Span<number>): Span;
  /** When it was read, in milliseconds, and by which run. */
  readonly read: number;
  readonly run: number;
  /** What ends until then is counted at the end of the run. */
  readonly until: string;
}

/**
 * What a copy has of a filter, with one more slice.
 *
 * @param lost records of the slice that could not be parsed, or were not taken.
 */
export function take(
  before: SyncPart,
  { slice, range, calls, spanOf, read, run, until }: TakenSlice,
  lost: number,
  ages: Pick<SyncSettings, 'lookback' | 'settle'>,
): SyncPart {
  const ceiling = formatNaive(read + zones);
  const dates = calls.map((call) => call.date_added);
  const times = dates.filter((at) => at < ceiling && !Number.isNaN(parseNaive(at)));
  const open = calls
    .filter((call) => !isFinalStatus(call.ppc_status))
    .map((call) => call.date_added);
  const countAt = (border: string | null): number => dates.filter((at) => at === border).length;
  const latest = [before.latest ?? '', ...times].sort().at(-1) || null;
  const left = lost + (before.paged?.pages.left ?? 0);

  // A slice that holds the time up to which calls are counted comes in two stretches, with no call
  // at that time.
  const stretches = withLost(slice.stretches ?? [], left);
  let list = before.stretches;
  for (const [i, one] of stretches.entries()) {
    const span = spanOf(one);
    const isHere = (at: string): boolean => stretches.length === 1 || at < until === (i === 0);
    list = add(list, {
      ...one,
      ...span,
      read,
      run,
      ends: [countAt(span.from) + one.shared, countAt(span.to)],
      open: open.filter(isHere).length,
    });

    // What lies at the ends of the range was read with its neighbors, too.
    for (const border of [span.from, span.to])
      if (border !== null && [range.from, range.to].includes(border)) list = sharing(list, border);
  }

  const { pages, pace } = slice;
  return {
    ...before,
    stretches: bounding(list, latest, until, ages),
    latest,
    pace,
    paged: pages && { ...spanOf(slice), pages: { ...pages, left } },
  };
}

/**
 * The stretch behind a border has as many calls in common with the one before it as both have
 * there.
 */
function sharing(list: readonly Stretch[], border: string): Stretch[] {
  return list.map((one, i) => {
    const before = list[i - 1];
    if (one.from !== border || before?.to !== border || one.ends === undefined) return one;
    const shared = Math.min(one.ends[0], before.ends?.[1] ?? one.ends[0]);
    return { ...one, shared, calls: one.calls + one.shared - shared };
  });
}
