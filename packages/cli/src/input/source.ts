import { type Call, CallsError, type Client, clientDefaults } from '@call-attribution/core';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import { describeScope } from '@call-attribution/node-stream/copies';
import type { Filter } from '@call-attribution/query-dsl';
import type { Answer } from '@call-attribution/questions';
import { type Io, say } from '../io.ts';
import type { Reading } from './verdict.ts';

/** How many calls match, and how that is known. */
export interface Total {
  readonly total: number;
  readonly source: string;
  /** How calls through call extensions are counted; a copy knows it. */
  readonly extensions?: Answer['extensions'];
}

/** The latest calls that match, in the order of their time. */
export interface Latest {
  readonly calls: readonly Call[];
  /** How many match. */
  readonly total: number;
  /** The server does not list calls by time, so that later ones may be elsewhere. */
  readonly isUnordered: boolean;
}

/** Where a command reads calls: the API, or a copy of them. */
export interface Source {
  /** Address of the API without credentials, or the name of what holds the copy. */
  readonly address: string | null;
  /**
   * What a copy that is not whole, or was filled with a filter, lacks of its last answer, in
   * sentences; also where a server serves such a copy.
   */
  readonly incomplete: readonly string[];
  count(filter: Filter): Promise<Total>;
  /** The call with this session ID; null when there is none. */
  get(sid: string): Promise<Call | null>;
  latest(filter: Filter, most: number): Promise<Latest>;
  /**
   * All calls that match, in the order of time, and whether these are all. `check` is called where
   * `onError` leaves out what it refuses.
   */
  read(options: CallStreamOptions): Promise<Reading>;
  close(): Promise<void>;
}

/**
 * The API as a source. Closing it closes the client, and says where the server has answered from a
 * copy that was filled with a filter.
 */
export function apiSource(client: Client, io: Io): Source {
  const { signal } = io;

  const incomplete = () => {
    const scope = describeScope(client);
    return scope === null ? [] : [`the server ${client.baseUrl} has ${scope}`];
  };

  return {
    address: client.baseUrl,
    get incomplete() {
      return incomplete();
    },
    count: (filter) => client.countCalls({ filter, signal }),
    get: (sid) =>
      client.getCall(sid, { signal }).catch(async (error: unknown) => {
        if (!CallsError.is(error, 'not_found')) throw error;
        // Where the list is not there either, the URL is wrong, and not the session ID.
        await client.listCalls({ rows: 1, signal });
        return null;
      }),
    latest: (filter, most) => latestCalls(client, filter, most, signal),
    async read(options) {
      const { readCalls } = await import('./verdict.ts');
      const { check, ...others } = options;
      // Where nothing is left out, the encoder notices it, too.
      return readCalls(client, {
        signal,
        ...others,
        ...(options.onError === 'fail' ? {} : { check }),
      });
    },
    close() {
      for (const line of incomplete()) say(io, line);
      return client.close();
    },
  };
}

/**
 * The first page tells how many calls match, and in which order they come: the latest are then at
 * the end of the list or, when the newest come first, at its beginning.
 */
async function latestCalls(
  client: Client,
  filter: Filter,
  most: number,
  signal: AbortSignal,
): Promise<Latest> {
  const rows = Math.min(most, clientDefaults.rows);
  const pagesFrom = (page: number) => client.listCalls({ filter, signal, rows, page }).pages();
  const first = await client.listCalls({ filter, signal, rows });
  const listed = first.total ?? (await client.countCalls({ filter, signal })).total;
  const isNewestFirst = !isOrdered(first.records);
  const page = isNewestFirst ? 0 : Math.floor(Math.max(0, listed - most) / rows);
  const calls: Call[] = [];
  let total = listed;

  // The end of a list is read until nothing follows: calls may arrive meanwhile.
  for await (const next of pagesFrom(page)) {
    calls.push(...next.records);
    total = next.total ?? total;
    if (isNewestFirst && calls.length >= most) break;
  }

  const ordered = isNewestFirst ? calls.slice(0, most).reverse() : calls.slice(-most);

  // What was read at the end of a list must also come after its beginning.
  const seen = isNewestFirst ? ordered : [...first.records.slice(0, 1), ...ordered];
  return { calls: ordered, total, isUnordered: !isOrdered(seen) };
}

/** Are the calls in the order of time? */
const isOrdered = (calls: readonly Call[]): boolean =>
  calls.every(({ date_added: time }, at) => at === 0 || (calls[at - 1]?.date_added ?? '') <= time);

/** The last of some calls, and how many there were. */
export async function lastOf(
  calls: AsyncIterable<Call>,
  most: number,
): Promise<Pick<Latest, 'calls' | 'total'>> {
  let kept: Call[] = [];
  let total = 0;
  for await (const call of calls) {
    total += 1;
    kept.push(call);
    if (kept.length > 2 * most) kept = kept.slice(-most);
  }

  return { calls: kept.slice(-most), total };
}
