import { ConfigurationError } from '@call-attribution/core/errors';
import { type Duration, durationMillis, formatNaive, parseNaive } from '@call-attribution/core/time';
import type { FilterInput } from '@call-attribution/query-dsl';
import type { TimeSlice } from '../calls/time-slice.ts';
import { filterOf } from './asked.ts';
import { endOf, put, rest, type Stretch, type Stretches } from './stretches.ts';
import type { SyncState } from './sync-state.ts';

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
  /** The state that the copy has already: what it says stays, and all from `since` on is read again. */
  readonly held?: SyncState | null | undefined;
}

/**
 * The state of a sync whose first run begins at a time, for a copy that another reader has filled up to there.
 *
 * @example
 * const state = memoryState(syncStateFrom({ version: 'v3', since: '2026-10-01 00:00:00' }));
 */
export function syncStateFrom({ filter, version, since, lookback, held }: SyncStart): SyncState {
  const begin = parseNaive(since);
  if (Number.isNaN(begin))
    throw new ConfigurationError(
      'invalid_option',
      `since is ${JSON.stringify(since)}; expected a time as 'YYYY-MM-DD HH:MM:SS'`,
    );
  // A run begins a lookback before the latest call.
  const latest = formatNaive(begin + (lookback === undefined ? 0 : durationMillis(lookback, 'lookback')));
  const { others } = filterOf(filter, version);
  const { parts = [], seen = [], pending = [] } = held ?? {};
  const own = parts.find((part) => part.filter === others && part.version === version);
  const stretches = own ? withClaim(own.stretches, since) : [claimOf({ from: null, to: latest })];
  const part = { ...own, version, filter: others, latest: own?.latest ?? latest, stretches };
  return { version: 1, parts: [...parts.filter((other) => other !== own), part], seen, pending };
}

/** What another reader has filled. */
const claimOf = ({ from, to }: TimeSlice): Stretch => ({ from, to, is: 'whole', calls: null, at: null });

/** Stretches with all before a time as filled, where nothing else is known, and all from then on to be read again. */
function withClaim(list: Stretches, since: string): Stretch[] {
  const claimed = list.reduce(rest, [{ from: null, to: since }] as readonly TimeSlice[]).map(claimOf);
  const again = list.map(
    (stretch): Stretch =>
      stretch.is === 'whole' && endOf(stretch) > since ? { ...stretch, again: true } : stretch,
  );
  return claimed.reduce((all: Stretch[], claim) => put(all, claim, [claim]), again);
}
