import { printFilter } from '@call-attribution/query-dsl';
import type { Mark } from '../checkpoint/mark.ts';
import { timeSliceOf } from '../query/time-slice.ts';
import type { WindowQuery } from '../query/window-query.ts';
import type { PageClient } from './call-source.ts';
import type { Verdict } from './verdict.ts';

/** What a read is about, and how it ended. */
export interface ReadFacts {
  /** URL of the API, without credentials; null when the client does not tell. */
  readonly address: string | null;
  /** Version of the API. */
  readonly version: 'v2' | 'v3';
  /** The filter of the read, in the language of `q`. */
  readonly filter: string;
  /** The range of `date_added` in the filter, its end not included; null at an open end. */
  readonly from: string | null;
  readonly to: string | null;
  /** Settled when the read has ended. */
  readonly verdict: Promise<Verdict>;
}

const reads = new WeakMap<Mark, ReadFacts>();

/** Remembers which read a mark comes from. */
export function markOf(read: ReadFacts, mark: Mark): Mark {
  reads.set(mark, read);
  return mark;
}

/** The read that a mark comes from; null for a mark that was made by something else. */
export function readBehind(mark: Mark): ReadFacts | null {
  return reads.get(mark) ?? null;
}

/** The facts about a read of a query. */
export function factsOf(client: PageClient, query: WindowQuery, verdict: Promise<Verdict>): ReadFacts {
  const { filter, lower, upper } = query;
  return {
    address: 'baseUrl' in client && typeof client.baseUrl === 'string' ? client.baseUrl : null,
    version: client.version,
    filter: printFilter(filter),
    ...timeSliceOf({ from: lower, to: upper }),
    verdict,
  };
}
