import { type Call, CallsError, type Client, clientDefaults } from '@call-attribution/core';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import type { Filter } from '@call-attribution/query-dsl';
import { type Reading, readCalls } from './verdict.ts';

/** A call, and how many calls match in all, if that is known. */
export interface Match {
  readonly call: Call;
  readonly total: number | null;
}

/** A part of the calls that match: so many calls after those that are skipped. */
export interface Part {
  readonly filter: Filter;
  /** May be infinite, when nothing is skipped. */
  readonly limit: number;
  readonly skip: number;
  /** Does the part begin at the first call, or go back from the latest one? */
  readonly end: 'first' | 'latest';
  /** Called when the server does not list calls by time, so that the latest ones may be elsewhere. */
  onUnordered?(): void;
}

/** Where a command reads calls: the API, or something that holds a copy of them. */
export interface Source {
  /** How many calls match, and how that is known. */
  count(filter: Filter): Promise<{ readonly total: number; readonly source: string }>;
  /** One call; an error when there is none with this session ID. */
  get(sid: string): Promise<Call>;
  /** Calls in the order of the source, each once, for people to look at. */
  list(part: Part): AsyncIterable<Match>;
  /** All calls that match, and whether these are all. */
  read(options: CallStreamOptions): Reading;
  close(): Promise<void>;
}

/** The API as a source. Closing it closes the client. */
export function apiSource(client: Client, signal: AbortSignal): Source {
  return {
    count: (filter) => client.countCalls({ filter, signal }),
    get: (sid) =>
      client.getCall(sid, { signal }).catch(async (error: unknown) => {
        // Where the list is not there either, the URL is wrong, and not the session ID.
        if (CallsError.is(error, 'not_found')) await client.listCalls({ rows: 1, signal });
        throw error;
      }),
    async *list(part) {
      const { filter, limit, skip } = part;
      if (limit === Number.POSITIVE_INFINITY) {
        const { createCallStream } = await import('@call-attribution/node-stream');
        for await (const call of createCallStream(client, { filter, signal })) yield { call, total: null };
        return;
      }
      if (part.end === 'latest') {
        yield* latestCalls(client, part, signal);
        return;
      }
      // A request may have fewer rows than the limit, but --page counts pages of the limit.
      const rows = Math.min(limit, clientDefaults.rows);
      let at = Math.floor(skip / rows) * rows;
      for await (const { records, range } of client
        .listCalls({ filter, signal, rows, page: at / rows })
        .pages()) {
        for (const call of records) {
          if (at >= skip + limit) return;
          if (at++ >= skip) yield { call, total: range?.total ?? null };
        }
        if (at >= skip + limit) return;
      }
    },
    read: (options) => readCalls(client, options),
    close: () => client.close(),
  };
}

/**
 * The latest calls. The first page tells how many match, and whether they are in the order of time; reading from near the end up
 * to it then finds also the calls that arrive meanwhile.
 */
async function* latestCalls(client: Client, part: Part, signal: AbortSignal): AsyncGenerator<Match> {
  const { filter, limit, skip, onUnordered } = part;
  const rows = Math.min(limit, clientDefaults.rows);
  const first = await client.listCalls({ filter, signal, rows });
  let total = first.total ?? (await client.countCalls({ filter, signal })).total;
  const isNewestFirst = first.records.length > 1 && !isOrdered(first.records);
  const begin = (): number => (isNewestFirst ? skip : Math.max(0, total - skip - limit));
  const end = (): number => (isNewestFirst ? skip + limit : total - skip);
  const page = Math.floor(begin() / rows);
  const calls: Call[] = [];
  const position = page * rows;
  const isWhole = first.records.length >= total;
  if (isWhole) calls.push(...first.records);
  else if (end() > 0) {
    for await (const next of client.listCalls({ filter, signal, rows, page }).pages()) {
      calls.push(...next.records);
      total = next.total ?? total;
      if (position + calls.length >= end()) break;
    }
  }
  const inTime = isNewestFirst ? calls.toReversed() : calls;
  if (!isOrdered(isNewestFirst || isWhole ? inTime : [...first.records.slice(0, 1), ...inTime]))
    onUnordered?.();
  const from = isWhole ? 0 : position;
  for (const call of calls.slice(Math.max(0, begin() - from), Math.max(0, end() - from)))
    yield { call, total };
}

const isOrdered = (calls: readonly Call[]): boolean =>
  calls.every(({ date_added }, i) => i === 0 || (calls[i - 1] as Call).date_added <= date_added);
