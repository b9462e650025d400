import type { Call } from '@call-attribution/core';
import type { Duration } from '@call-attribution/core/time';
import type { StreamOptions } from '../source/options.ts';
import type { Proof, VerdictReason } from '../source/verdict.ts';

/**
 * A period that moves with the clock, such as the last 60 days. The state of a sync belongs to its name, so that a later run,
 * whose ends are others, continues. It begins no later than the latest call seen, so that a pause leaves no gap.
 */
export interface MovingPeriod {
  /** What does not move, such as `60d`. */
  readonly name: string;
  /** Where the period begins now, `YYYY-MM-DD HH:MM:SS`. Default: with the first call. */
  readonly from?: string | null;
  /** Where it ends now, not included. Default: with the latest call. */
  readonly to?: string | null;
}

/** Settings of `syncCalls` and `syncInto`. */
export interface SyncOptions
  extends Pick<
    StreamOptions,
    | 'filter'
    | 'rows'
    | 'prefetch'
    | 'window'
    | 'signal'
    | 'timeout'
    | 'retry'
    | 'headers'
    | 'onProgress'
    | 'onError'
    | 'now'
  > {
  /** Only calls of this period, whose ends move from run to run; times that stay belong to `filter`. Default: all calls. */
  period?: MovingPeriod | undefined;
  /**
   * How far before the latest call seen a run begins, to find calls that appear late and records that change. Make it
   * longer than a call lasts and than the server's clock may be wrong. Default `3d`. In v2 it is at least `settle`, unless
   * `isFinal` is given: v2 has no `ppc_status`, so records are read again by their age.
   */
  lookback?: Duration | undefined;
  /** Age from which a record is no longer read again, although its `ppc_status` is not final. Default `30d`. */
  settle?: Duration | undefined;
  /** Whether a record will not change any more. Default: whether its `ppc_status` is final. */
  isFinal?: ((call: Call) => boolean) | undefined;
  /** Most records that a run reads one by one; the rest comes first in the next run. Default 1000. */
  maxRechecks?: number | undefined;
  /** Fields whose changes do not count, such as links that are signed again in each response. */
  ignore?: readonly string[] | undefined;
  /** Returns a record as it was stored, for `before` of a change. */
  recall?: ((sid: string) => Call | null | Promise<Call | null>) | undefined;
}

/** What a sync found out about one record. */
export interface SyncChange {
  /** `same`: it was seen before with the same contents. */
  readonly kind: 'new' | 'changed' | 'same';
  /** The record as it is now. */
  readonly call: Call;
  /** The record as it was, when `recall` returns it. */
  readonly before?: Call;
}

/** What a sync did. */
export interface SyncSummary {
  /** Records seen for the first time. */
  readonly new: number;
  /** Records whose contents changed. */
  readonly changed: number;
  /** Records seen before with the same contents. */
  readonly same: number;
  /** Records older than the lookback that were read again one by one. */
  readonly rechecked: number;
  /** Those of them that the server no longer has. */
  readonly gone: number;
  /** Records whose status is not final. */
  readonly pending: number;
  /** Records that could not be parsed: left out, or passed to `onError` as bytes. A later run that meets them tries again. */
  readonly skipped: number;
  /**
   * What was proved of the range that the run read, as in a `Verdict`. Calls that came late into a part that had been read
   * make it `short`; the next run finds them while they lie within its lookback.
   */
  readonly proof: Proof;
  /** Why it is not `whole`; empty when it is. */
  readonly reasons: readonly VerdictReason[];
  /** The latest `date_added` seen; the next run begins a lookback before it. */
  readonly watermark: string | null;
}
