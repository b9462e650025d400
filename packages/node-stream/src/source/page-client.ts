import type { Call } from '@call-attribution/core';
import type { Filter } from '@call-attribution/query-dsl';

/** What is asked of a client for one page. */
export interface PageQuery {
  readonly filter: Filter;
  readonly rows: number;
  /** Page number, from 0. */
  readonly start: number;
  readonly signal: AbortSignal;
}

/** One page as received: its bytes, its place in the whole, and its records when asked for. */
export interface RawPage {
  readonly bytes: Uint8Array;
  readonly range: { readonly first: number; readonly last: number; readonly total: number | null } | null;
  readonly meta: { readonly attempts: number };
  readonly count: number;
  slices(): readonly { readonly start: number; readonly end: number }[];
  record(index: number): Call;
}

/** The part of core's client the streams stand on. Any client with it will do. */
export interface PageClient {
  readonly version: 'v2' | 'v3';
  fetchPage(query: PageQuery): Promise<RawPage>;
}
