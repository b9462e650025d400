import { ConfigurationError } from '@call-attribution/core/errors';
import { type Duration, durationMillis, formatNaive, parseNaive } from '@call-attribution/core/time';
import type { FilterInput } from '@call-attribution/query-dsl';
import { windowQuery } from '../query/window-query.ts';
import { queryOfState, type SyncState } from './sync-state.ts';

/** What `syncStateFrom` makes a state of. */
export interface SyncStart {
  /** The filter of the syncs to come. */
  readonly filter?: FilterInput | undefined;
  /** The version of the API that they use. */
  readonly version: 'v2' | 'v3';
  /** The first of them reads all calls from this time on, `YYYY-MM-DD HH:MM:SS`. */
  readonly since: string;
  /**
   * The `lookback` of the syncs to come, if it is known: the first one then begins at `since` (in v2 earlier, unless it is
   * `settle` or longer). By default it begins a lookback before `since`, whatever the lookback is.
   */
  readonly lookback?: Duration | undefined;
}

/**
 * The state of a sync whose first run begins at a time, for a copy that another reader has filled up to there.
 *
 * @example
 * const state = memoryState(syncStateFrom({ version: 'v3', since: '2026-10-01 00:00:00' }));
 */
export function syncStateFrom({ filter, version, since, lookback }: SyncStart): SyncState {
  const begin = parseNaive(since);
  if (Number.isNaN(begin))
    throw new ConfigurationError(
      'invalid_option',
      `since is ${JSON.stringify(since)}; expected a time as 'YYYY-MM-DD HH:MM:SS'`,
    );
  // A run begins a lookback before the watermark.
  const watermark = begin + (lookback === undefined ? 0 : durationMillis(lookback, 'lookback'));
  return {
    version: 1,
    ...queryOfState(windowQuery(filter, version), version),
    watermark: formatNaive(watermark),
    seen: [],
    pending: [],
    run: null,
  };
}
