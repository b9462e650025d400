import type { Call } from '@call-attribution/core';
import type { Duration } from '@call-attribution/core/time';
import type { StreamOptions } from '../source/options.ts';

/** Options of a sync. */
export interface SyncOptions
  extends Pick<StreamOptions, 'filter' | 'rows' | 'prefetch' | 'window' | 'signal' | 'onProgress' | 'now'> {
  /**
   * How far before the latest call seen a run begins, so that calls that appear late and records that change are met.
   * Longer than a call lasts, and than the server's clock can be wrong. Default `3d`.
   */
  lookback?: Duration;
  /** Age at which a record is left alone although its `ppc_status` is not final. Default `30d`. */
  settle?: Duration;
  /** Whether nothing more is to be expected of a record. Default: `ppc_status` is not one of the two waiting ones. */
  isFinal?: (call: Call) => boolean;
  /** Single reads of one run at most; what is left comes first in the next run. Default 1000. */
  maxRechecks?: number;
  /** Fields that make no change, such as links that are signed anew with each answer. */
  ignore?: readonly string[];
  /** Gives a record as it was stored, for `before` of a change. */
  recall?: (sid: string) => Call | null | Promise<Call | null>;
}

/** What a sync found out about one record. */
export interface SyncChange {
  readonly kind: 'new' | 'changed' | 'same';
  readonly call: Call;
  /** The record as it was, when `recall` gives it. */
  readonly before?: Call;
}

/** What a sync did. */
export interface SyncSummary {
  readonly new: number;
  readonly changed: number;
  readonly same: number;
  /** Records older than the lookback that were read again one by one; how many of them are gone from the server. */
  readonly rechecked: number;
  readonly gone: number;
  /** Records whose status is still open. */
  readonly pending: number;
  readonly watermark: string | null;
}
