import type { Clock } from '@call-attribution/core';
import { type Edition, makeEdition, sinceOf } from './edition.ts';
import type { Feed, FeedSource } from './feed.ts';
import { periodOf } from './once.ts';

/** For how long a sheet that was made is given to further requests, in milliseconds. */
const freshMs = 60_000;
/** For how long its bytes are kept after that. */
const keptMs = 10 * 60_000;

/** What became of the fetches of a feed. */
export interface FeedState {
  readonly feed: Feed;
  /** When a tool last fetched it with success, in milliseconds since 1970. */
  lastFetch: number | null;
  /** How many fetches had success, a 304 included. */
  fetches: number;
  /** How many were refused: no password, a wrong one, or too many at once. */
  refusals: number;
  /** What the last edition was. */
  latest: Omit<Edition, 'parts' | 'entries'> | null;
  /** When it could last not be made. */
  failedAt: number | null;
}

/** Keeps the latest edition of each feed, and makes a new one when it is old. */
export interface FeedDesk {
  readonly states: readonly FeedState[];
  /** The edition to send; made now unless the last one is fresh. Requests at the same time share one. */
  edition(state: FeedState): Promise<Edition>;
  /** What the calls of a feed lack, in words; null when they are whole, or nobody knows. */
  lacks(state: FeedState): Promise<string | null>;
}

/** Opens the desk for feeds over a source of calls. */
export function createFeedDesk(
  feeds: readonly Feed[],
  source: FeedSource,
  clock: Pick<Clock, 'now'>,
): FeedDesk {
  const making = new Map<FeedState, Promise<Edition>>();
  const kept = new Map<FeedState, Edition>();
  const states = feeds.map(
    (feed): FeedState => ({
      feed,
      lastFetch: null,
      fetches: 0,
      refusals: 0,
      latest: null,
      failedAt: null,
    }),
  );

  const make = async (state: FeedState): Promise<Edition> => {
    try {
      const edition = await makeEdition(state.feed, source, clock.now(), state.latest);
      const { parts: _, entries: __, ...facts } = edition;
      state.latest = facts;
      state.failedAt = null;
      kept.set(state, edition);
      setTimeout(() => {
        if (kept.get(state) === edition) kept.delete(state);
      }, freshMs + keptMs).unref();
      return edition;
    } catch (error) {
      state.failedAt = clock.now();
      throw error;
    } finally {
      making.delete(state);
    }
  };
  return {
    states,
    async lacks({ feed }) {
      const since = sinceOf(feed, clock.now(), feed.history);
      return (await source.lacks?.(feed.account, since)) ?? null;
    },
    edition(state) {
      const edition = kept.get(state);
      const isCurrent = edition !== undefined && edition.period === periodOf(state.feed, clock.now());
      if (isCurrent && clock.now() - edition.madeAt < freshMs) return Promise.resolve(edition);
      const begun = making.get(state) ?? make(state);
      making.set(state, begun);
      return begun;
    },
  };
}
