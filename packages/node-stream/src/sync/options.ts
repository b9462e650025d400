import type { Call, RequestOptions } from '@call-attribution/core';
import {
  checkOption,
  defineOptions,
  type OptionsOf,
  option,
  type ReadOf,
} from '@call-attribution/core/options';
import type { PageClient } from '../call-source.ts';
import { naiveTime } from '../option-kinds.ts';
import { type CallStreamOptions, callStreamOptions, clientKind } from '../read.ts';
import type { StateStore, UpsertSink } from './state.ts';

/** The part of core's client that a sync uses. */
export type SyncClient = PageClient;

const periodOptions = defineOptions({
  /** Where it begins, `YYYY-MM-DD HH:MM:SS`. Default: with the first call. */
  from: naiveTime().or(option.only(null)),
  /** Where it ends, not included. Default: with the latest call. */
  to: naiveTime().or(option.only(null)),
});

/**
 * A period that moves with the clock, such as the last 60 days. It begins no later than where earlier runs ended, so that a pause
 * leaves no gap.
 */
export interface MovingPeriod extends OptionsOf<typeof periodOptions> {}

const { checkpoint: _, ...reading } = callStreamOptions.entries;

/** The options of `syncInto`. */
export const syncOptions = defineOptions({
  ...reading,
  /** The clock. Default: that of the machine. */
  clock: option.clock(),
  /** Only calls of this period, whose ends move from run to run. Default: all calls. */
  period: option.table<MovingPeriod, MovingPeriod>(periodOptions),
  /** A period that is read before all others. */
  first: option.table<MovingPeriod, MovingPeriod>(periodOptions),
  /**
   * How far before the latest call seen a run begins, to find calls that appear late and records that change. Make it longer than a call
   * lasts and than the server's clock may be wrong. Default `3d`. In v2 it is at least `settle`, unless `isFinal` is given: v2 has no
   * `ppc_status`, so records are read again by their age.
   */
  lookback: option.duration().default('3d'),
  /** Age from which a record is no longer read again, although its `ppc_status` is not final. Default `30d`. */
  settle: option.duration().default('30d'),
  /** Whether a record will not change any more. Default: whether its `ppc_status` is final. */
  isFinal: option.callback<(call: Call) => boolean>(),
  /**
   * Which calls a run reads first. `newest` divides what is unread by its age, so that the calls of the last day are there first. Default
   * `oldest`.
   */
  order: option.oneOf('oldest', 'newest').default('oldest'),
  /** Most pages that a run reads; the next one goes on there. Default: no limit. */
  maxPages: option.whole(1),
});

/** Settings of `syncInto`, next to those of a stream. */
export interface SyncOptions
  extends Omit<CallStreamOptions, 'checkpoint'>,
    Omit<OptionsOf<typeof syncOptions>, keyof CallStreamOptions | keyof RequestOptions> {}
/** The same with the defaults. */
export interface SyncSettings extends ReadOf<typeof syncOptions> {}

/** The options of `syncCalls`. */
export const syncCallsOptions = defineOptions({
  ...syncOptions.entries,
  /** Keeps the state between runs, such as `memoryState()`. */
  state: option.methods<StateStore>('a state with load() and save()', 'load', 'save').required(),
});

/** Settings of `syncCalls`. */
export interface SyncCallsOptions extends SyncOptions, Pick<OptionsOf<typeof syncCallsOptions>, 'state'> {}

const sinkKind = option.methods<UpsertSink>('a sink with load() and commit()', 'load', 'commit');

/** Refuses what is not a client. */
export const checkClient = (client: unknown): void => checkOption('client', clientKind, client);
/** Refuses what is not a sink. */
export const checkSink = (sink: unknown): void => checkOption('sink', sinkKind, sink);
