import type { Call } from '@call-attribution/core';
import {
  checkOption,
  defineOptions,
  type OptionsOf,
  option,
  type ReadOf,
} from '@call-attribution/core/options';
import { type StreamOptions, streamOptions } from '../calls/options.ts';
import { naiveTime } from '../option-kinds.ts';
import type { StateStore, UpsertSink } from './sync-state.ts';

const movingPeriodOptions = defineOptions({
  /** Where the period begins now, `YYYY-MM-DD HH:MM:SS`. Default: with the first call. */
  from: naiveTime().or(option.only(null)),
  /** Where it ends now, not included. Default: with the latest call. */
  to: naiveTime().or(option.only(null)),
});

/**
 * A period that moves with the clock, such as the last 60 days. It begins no later than where earlier runs ended, so that a pause
 * leaves no gap.
 */
export interface MovingPeriod extends OptionsOf<typeof movingPeriodOptions> {}

const { filter, rows, prefetch, signal, timeout, retry, headers, onProgress, onError, clock } =
  streamOptions.entries;

/** The options of `syncInto`. */
export const syncOptions = defineOptions({
  ...{ filter, rows, prefetch, signal, timeout, retry, headers, onProgress, onError, clock },
  /** Only calls of this period, whose ends move from run to run. Default: all calls. */
  period: option.table<MovingPeriod, MovingPeriod>(movingPeriodOptions),
  /**
   * How far before the latest call seen a run begins, to find calls that appear late and records that change. Make it
   * longer than a call lasts and than the server's clock may be wrong. Default `3d`. In v2 it is at least `settle`, unless
   * `isFinal` is given: v2 has no `ppc_status`, so records are read again by their age.
   */
  lookback: option.duration().default('3d'),
  /** Age from which a record is no longer read again, although its `ppc_status` is not final. Default `30d`. */
  settle: option.duration().default('30d'),
  /** Whether a record will not change any more. Default: whether its `ppc_status` is final. */
  isFinal: option.callback<(call: Call) => boolean>(),
  /**
   * Which calls a run reads first. `newest` divides what is unread by its age, so that the calls of the last day are there first.
   * Default `oldest`.
   */
  order: option.oneOf('oldest', 'newest').default('oldest'),
  /** Most pages that a run reads; the next one goes on there. Default: no limit. */
  maxPages: option.whole(1),
  /** Most records that a run reads one by one; the rest comes first in the next run. Default 1000. */
  maxRechecks: option.whole(0).default(1000),
  /** Fields whose changes do not count, such as links that are signed again in each response. */
  ignore: option.list<string>().default([]),
  /** Returns a record as it was stored, for `before` of a change. */
  recall: option.callback<(sid: string) => Call | null | Promise<Call | null>>(),
});

/** Settings of `syncInto`. */
export interface SyncOptions
  extends Omit<StreamOptions, 'checkpoint' | 'onChange' | 'incomplete'>,
    OptionsOf<typeof syncOptions> {}
/** The same with the defaults. */
export interface SyncSettings extends ReadOf<typeof syncOptions> {}

/** The options of `syncCalls`. */
export const syncCallsOptions = defineOptions({
  ...syncOptions.entries,
  /** Keeps the state between runs, such as `memoryState()`. */
  state: option.methods<StateStore>('a state such as memoryState()', 'load', 'save').required(),
});

/** Settings of `syncCalls`. */
export interface SyncCallsOptions extends SyncOptions, OptionsOf<typeof syncCallsOptions> {}

const sinkKind = option.methods<UpsertSink>('a sink with load() and commit()', 'load', 'commit');

/** Refuses what is not a sink. */
export function checkSink(sink: unknown): void {
  checkOption('sink', sinkKind, sink);
}
