import { printFilter } from '@call-attribution/query-dsl';
import type { Verdict } from '../reader/verdict.ts';
import type { PageClient } from './call-source.ts';
import { timeSliceOf } from './time-slice.ts';
import type { WindowQuery } from './window-query.ts';

/** What a read is about, and how it ended. */
export interface ReadFacts {
  /** URL of the API, without credentials; null when the client does not tell. */
  readonly address: string | null;
  /** Version of the API. */
  readonly version: 'v2' | 'v3';
  /** The filter of the read, in the language of `q`. */
  readonly filter: string;
  /** Where the range of `date_added` in the filter begins; null when it is open there. */
  readonly from: string | null;
  /** Where it ends, not included; null when it is open there. */
  readonly to: string | null;
  /** Settled when the read has ended. */
  readonly verdict: Promise<Verdict>;
}

/** Whether a source says what its read is about. */
export const isReadFacts = (value: unknown): value is ReadFacts =>
  typeof value === 'object' && value !== null && 'filter' in value && 'verdict' in value;

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
