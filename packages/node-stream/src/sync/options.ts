import { type Clock, systemClock } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { checkWhole } from '@call-attribution/core/options';
import { type Duration, durationMillis, parseNaive } from '@call-attribution/core/time';
import { type CallStreamOptions, streamSettings } from '../read.ts';
import type { StateStore } from './state.ts';

/**
 * A period that moves with the clock, such as the last 60 days. It begins no later than where earlier runs ended, so that a pause
 * leaves no gap.
 */
export interface MovingPeriod {
  /** Where it begins, `YYYY-MM-DD HH:MM:SS`. Default: with the first call. */
  readonly from?: string | null | undefined;
  /** Where it ends, not included. Default: with the latest call. */
  readonly to?: string | null | undefined;
}

/** Settings of `syncInto`, next to those of a stream. */
export interface SyncOptions extends Omit<CallStreamOptions, 'checkpoint'> {
  /** The clock. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Only calls of this period, whose ends move from run to run. Default: all calls. */
  readonly period?: MovingPeriod | undefined;
  /** A period that is read before all others. */
  readonly first?: MovingPeriod | undefined;
  /**
   * How far before the latest call seen a run begins, to find calls that appear late and records that change. Make it longer than a call
   * lasts and than the server's clock may be wrong. Default `3d`. In v2 it is at least `settle`: v2 has no `ppc_status`, so
   * records are read again by their age.
   */
  readonly lookback?: Duration | undefined;
  /** Age from which a record is no longer read again, although its `ppc_status` is not final. Default `30d`. */
  readonly settle?: Duration | undefined;
  /**
   * Which calls a run reads first. `newest` divides what is unread by its age, so that the calls of the last day are there first. Default
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

/** The settings of a sync with their defaults, times in milliseconds. */
export type SyncSettings = ReturnType<typeof syncSettings>;

/**
 * The settings of a sync with their defaults. In v2 no record says whether it is final (`ppc_status` is a field of v3), so all of them are
 * read again until they are old enough.
 */
export function syncSettings(options: SyncOptions, version: 'v2' | 'v3') {
  const { clock = systemClock, order = 'oldest', maxPages } = options;
  const lookback = durationMillis(options.lookback ?? '3d', 'lookback');
  const settle = durationMillis(options.settle ?? '30d', 'settle');
  for (const time of [options.period, options.first].flatMap((each) => [each?.from, each?.to]))
    if (time && Number.isNaN(parseNaive(time)))
      throw new ConfigurationError('invalid_option', "A period has times as 'YYYY-MM-DD HH:MM:SS'.");
  if (maxPages !== undefined) checkWhole(maxPages, 'maxPages');
  return {
    ...streamSettings(options),
    clock,
    lookback: version === 'v2' ? Math.max(lookback, settle) : lookback,
    settle,
    order,
  };
}
