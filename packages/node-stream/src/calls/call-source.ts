import { createHash } from 'node:crypto';
import { type Client, type RawPage, type RequestOptions, ResponseError } from '@call-attribution/core';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { printFilter } from '@call-attribution/query-dsl';
import type { Source } from '../reader/source.ts';
import type { Failure } from '../reader/work.ts';
import { callAxis } from './call-axis.ts';
import { viewOf } from './call-view.ts';
import { errorOf } from './errors.ts';
import type { WindowQuery } from './window-query.ts';

/** The part of core's client that the streams use. Any client with it will do. A page belongs to the stream that asked for it. */
export type PageClient = Pick<Client, 'version' | 'fetchPage'>;

/** What all requests of a read have in common; `signal` is added to it. */
export type RequestSettings = Pick<RequestOptions, 'timeout' | 'retry' | 'headers'>;

/** Calls as a list: the only part of a read that knows pages of core. */
export function callSource(
  client: PageClient,
  query: WindowQuery,
  { timeout, retry, headers }: RequestSettings,
): Source<RawPage> {
  return {
    axis: callAxis,
    print: formatNaive,
    parse: parseNaive,
    fetch: ({ span, style, rows, page, signal }) =>
      client.fetchPage({ timeout, retry, headers, signal, filter: query.within(span, style), rows, page }),
    view: viewOf,
    retriesOf: ({ meta: { attempts } }) => Math.max(0, attempts - 1),
    failureOf,
    errorOf,
  };
}

/** What ties a checkpoint to its query. */
export function queryHash(query: WindowQuery, version: string): string {
  return createHash('sha256')
    .update(`${version} ${printFilter(query.filter)}`)
    .digest('hex')
    .slice(0, 16);
}

// Codes of the client's errors for pages that are not what their place in the list says.
const misplaced: ReadonlySet<string> = new Set(['wrong_page', 'list_moved', 'page_clamped']);

/** What the error of a request means for the planning. */
function failureOf(error: unknown): Failure {
  if (error instanceof ResponseError && misplaced.has(error.code)) return 'misplaced';
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return status === 400 || status === 422 ? 'refused' : 'failed';
}
