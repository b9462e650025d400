import { type Call, type Client, clientDefaults } from '@call-attribution/core';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import type { Filter } from '@call-attribution/query-dsl';
import { type Reading, readCalls } from './reading.ts';

/** A call, and how many calls match in all, if that is known. */
export interface Match {
  readonly call: Call;
  readonly total: number | null;
}

/** A part of the calls that match: `limit` calls after the first `skip` ones. The limit may be infinite. */
export interface Part {
  readonly filter: Filter;
  readonly limit: number;
  readonly skip: number;
}

/** Where a command reads calls: the API, or something that holds a copy of them. */
export interface Source {
  /** How many calls match, and how that is known. */
  count(filter: Filter): Promise<{ readonly total: number; readonly source: string }>;
  /** One call; an error when there is none with this session ID. */
  get(sid: string): Promise<Call>;
  /** Calls in their order, for people to look at. */
  list(part: Part): AsyncIterable<Match>;
  /** All calls that match, and whether these are all. */
  read(options: CallStreamOptions): Reading;
  close(): Promise<void>;
}

/** The API as a source. Closing it closes the client. */
export function apiSource(client: Client, signal: AbortSignal): Source {
  return {
    count: (filter) => client.countCalls({ filter, signal }),
    get: (sid) => client.getCall(sid, { signal }),
    async *list({ filter, limit, skip }) {
      if (limit === Number.POSITIVE_INFINITY) {
        const { createCallStream } = await import('@call-attribution/node-stream');
        for await (const call of createCallStream(client, { filter, signal })) yield { call, total: null };
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
