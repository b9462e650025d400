import { type Clock, systemClock } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { checkWhole } from '@call-attribution/core/options';
import {
  type Duration,
  day,
  durationMillis,
  parseNaive,
  second,
} from '@call-attribution/core/time';
import { bounded, type CopyStretch, common, missing, type Range } from '../proof.ts';
import { type CallStreamOptions, streamSettings } from '../read.ts';
import { rangeOf } from '../times.ts';
import { merged, type Part, type StateStore } from './state.ts';

/**
 * A period that moves with the clock, such as the last 60 days. It begins no later than where
 * earlier runs ended, so that a pause leaves no gap.
 */
export interface MovingPeriod {
  /** Where it begins, `YYYY-MM-DD HH:MM:SS`. Default: with the first call. */
  readonly from?: string | null | undefined;
  /** Where it ends, not included. Default: with the latest call. */
  readonly to?: string | null | undefined;
}

/** Settings of `syncInto`, next to those of a stream. */
export interface SyncOptions extends Omit<CallStreamOptions, 'checkpoint' | 'check'> {
  /** The clock. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Only calls of this period, whose ends move from run to run. Default: all calls. */
  readonly period?: MovingPeriod | undefined;
  /** A period that is read before all others. */
  readonly first?: MovingPeriod | undefined;
  /**
   * How far before the latest call seen a run begins, to find calls that appear late and records
   * that change. Make it longer than a call lasts and than the server's clock may be wrong. Default
   * `3d`. In v2 it is at least `settle`: v2 has no `ppc_status`, so records are read again by their
   * age.
   */
  readonly lookback?: Duration | undefined;
  /**
   * Age from which a record is no longer read again, although its `ppc_status` is not final.
   * Default `30d`.
   */
  readonly settle?: Duration | undefined;
  /**
   * Which calls a run reads first. `newest` divides what is unread by its age, so that the calls of
   * the last day are there first. Default
   * `oldest`.
   */
  readonly order?: 'oldest' | 'newest' | undefined;
  /** Most pages that a run reads; the next one goes on there. Default: no limit. */
  readonly maxPages?: number | undefined;
}

/** Settings of `syncCalls`. */
export interface SyncCallsOptions extends SyncOptions {
  /** Keeps the state between runs, such as `memoryState()`. */
  readonly state: StateStore;
}

/**
 * The settings of a sync with their defaults, times in milliseconds. In v2 no record says whether
 * it is final (`ppc_status` is a field of v3), so all of them are read again until they are old
 * enough.
 */
export function syncSettings(options: SyncOptions, version: 'v2' | 'v3') {
  const { clock = systemClock, maxPages } = options;
  const lookback = durationMillis(options.lookback ?? '3d', 'lookback');
  const settle = durationMillis(options.settle ?? '30d', 'settle');
  for (const time of [options.period, options.first].flatMap((each) => [each?.from, each?.to]))
    if (time && Number.isNaN(parseNaive(time)))
      throw new ConfigurationError(
        'invalid_option',
        "A period has times as 'YYYY-MM-DD HH:MM:SS'.",
      );

  if (maxPages !== undefined) checkWhole(maxPages, 'maxPages');
  return {
    ...streamSettings(options),
    clock,
    lookback: version === 'v2' ? Math.max(lookback, settle) : lookback,
    settle,
  };
}

export type SyncSettings = ReturnType<typeof syncSettings>;

type Ages = Pick<SyncSettings, 'lookback' | 'settle'>;

/**
 * The range that a run asks for. A period that moves begins no later than the latest call seen, or
 * than what earlier runs left unread, so that neither a pause nor a run that was interrupted leaves
 * a gap.
 */
export function askedOf(range: Range, period: SyncSettings['period'], part: Part): Range {
  if (period === undefined) return range;
  const { from, to } = rangeOf({ from: period.from ?? null, to: period.to ?? null });
  const end = Math.min(range.to ?? Infinity, to === null ? Infinity : to - second);
  const begin = Math.max(range.from ?? -Infinity, from ?? -Infinity);
  if (from === null) return openEnded(begin, end);
  const unread = part.asked
    .flatMap((asked) => missing(part.stretches, asked))
    .map((gap) => gap.from ?? -Infinity);
  return openEnded(Math.min(begin, ...unread, part.latest ?? begin), end);
}

const openEnded = (from: number, to: number): Range => ({
  from: from === -Infinity ? null : from,
  to: to === Infinity ? null : to,
});

/** Whether calls of a stretch may have changed since it was read. */
export function mayChange(
  { to, again, open = 0 }: CopyStretch,
  latest: number | null,
  { lookback, settle }: Ages,
): boolean {
  if (to === null || again === true) return true;
  const isAfter = (age: number): boolean => latest === null || to > latest - age;
  return isAfter(lookback) || (open > 0 && isAfter(settle));
}

/** What a run reads: what is unread in its range, what may have changed, and what is not whole. */
export function dueOf(part: Part, asked: Range, ages: Ages): Range[] {
  const { stretches, latest } = part;
  const young = latest === null ? null : latest - ages.lookback;
  const read = stretches.flatMap((one): Range[] => {
    // What was read since a run came to its end is not read again before the next one does.
    if (one.at === null) return [];
    if (one.is === 'proved' ? one.counted === null : one.why !== 'no_total') return [one];
    if (!mayChange(one, latest, ages) || common(one, asked) === null) return [];

    // Where nobody counted the calls of a stretch, nothing is lost by cutting it.
    const isCut =
      one.counted === null && young !== null && common(one, { from: null, to: young }) !== null;
    return isCut && (one.to === null || one.to > young) ? [{ from: young, to: one.to }] : [one];
  });
  return merged([...missing(stretches, asked), ...read]);
}

/** Ages at which a read that begins with the newest calls is divided. */
const divisions = [1, 7, 28, 91, 364];

/**
 * Ranges in the order in which they are read. What is unread is divided by its age, and at the ends
 * of the period that comes first.
 */
export function inOrder(ranges: readonly Range[], part: Part, settings: SyncSettings): Range[] {
  const { order, clock } = settings;
  const { from = null, to = null } = settings.first ?? {};
  const first = rangeOf({ from, to });
  const today = Math.floor(clock.now() / day);
  const ages = order === 'newest' ? divisions.map((age) => (today - age) * day) : [];
  const borders = [...ages, first.from, first.to].filter((at) => at !== null);
  borders.sort((a, b) => a - b);
  const parts = ranges.flatMap(({ from, to }) => {
    if (missing(part.stretches, { from, to }).length === 0) return [{ from, to }];
    const inside = borders.filter((at, i) => {
      return at !== borders[i - 1] && at > (from ?? -Infinity) && (to === null || at < to);
    });
    return [...inside, to].map((end, i) => ({ from: inside[i - 1] ?? from, to: end }));
  });
  if (order === 'newest') parts.reverse();
  if (settings.first === undefined) return parts;
  const isFirst = (range: Range): boolean => common(range, first) !== null;
  return [...parts.filter(isFirst), ...parts.filter((range) => !isFirst(range))];
}

/**
 * Stretches that a state holds, where neighbors are alike; more where calls may change, so that no
 * more than needed is read again.
 */
const usual = 64;

/**
 * The same in fewer stretches: what may change stays apart in cells, and so does what is counted
 * until then.
 */
export function bounding(
  list: readonly CopyStretch[],
  latest: number | null,
  until: number,
  { lookback, settle }: Ages,
): readonly CopyStretch[] {
  const cellOf = (border: number): string | null => {
    const age = (latest ?? Number.NaN) - border;
    if (!(age < settle)) return null;
    const size = Math.max(second, age < lookback ? lookback / 8 : settle / 16);
    return `${size} ${Math.floor(border / size)}`;
  };

  // The first border of each cell stays.
  const kept = new Map<string | null, number>();
  for (const { from } of list)
    if (from !== null && !kept.has(cellOf(from))) kept.set(cellOf(from), from);
  kept.delete(null);
  return bounded(list, usual, (border) => border === until || kept.get(cellOf(border)) === border);
}
