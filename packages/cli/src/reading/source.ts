import { type Call, type CallPage, CallsError, type Client, clientDefaults } from '@call-attribution/core';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import type { Filter } from '@call-attribution/query-dsl';
import type { Answer } from '@call-attribution/questions';
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

/** How many calls match, and how that is known. */
export interface Total {
  readonly total: number;
  readonly source: string;
  /** How calls through call extensions are counted; a copy knows it. */
  readonly extensions?: Answer['extensions'];
  /** What a copy lacks, a line for each account; not there when it is whole, and for the API. */
  readonly incomplete?: readonly string[];
}

/** Where a command reads calls: the API, or something that holds a copy of them. */
export interface Source {
  /** Address of the API without credentials, or the name of what holds the copy. */
  readonly address: string | null;
  /** What its last answer lacks, a sentence for each account, when it is a copy that is not whole. */
  readonly incomplete?: readonly string[];
  /** How many calls match, and how that is known. */
  count(filter: Filter): Promise<Total>;
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
    address: client.baseUrl,
    count: (filter) => client.countCalls({ filter, signal }),
    get: (sid) =>
      client.getCall(sid, { signal }).catch(async (error: unknown) => {
        // Where the list is not there either, the URL is wrong, and not the session ID.
        if (CallsError.is(error, 'not_found')) await client.listCalls({ rows: 1, signal });
        throw error;
      }),
    list(part) {
      if (part.limit === Number.POSITIVE_INFINITY) return allCalls(client, part, signal);
      return part.end === 'latest' ? latestCalls(client, part, signal) : firstCalls(client, part, signal);
    },
    read: (options) => readCalls(client, options),
    close: () => client.close(),
  };
}

async function* allCalls(client: Client, { filter }: Part, signal: AbortSignal): AsyncGenerator<Match> {
  const { createCallStream } = await import('@call-attribution/node-stream');
  for await (const call of createCallStream(client, { filter, signal })) yield { call, total: null };
}

async function* firstCalls(client: Client, part: Part, signal: AbortSignal): AsyncGenerator<Match> {
  const { filter, limit, skip } = part;
  // A request may have fewer rows than the limit, but --page counts pages of the limit.
  const rows = Math.min(limit, clientDefaults.rows);
  const page = Math.floor(skip / rows);
  let at = page * rows;
  for await (const { records, range } of client.listCalls({ filter, signal, rows, page }).pages()) {
    for (const call of records) {
      if (at >= skip + limit) return;
      if (at++ >= skip) yield { call, total: range?.total ?? null };
    }
    if (at >= skip + limit) return;
  }
}

/** The places of the calls that are wanted, in the list of so many: from the first to before the second. */
type Wanted = (total: number) => readonly [from: number, to: number];

/** Calls that follow each other in the list. */
interface Stretch {
  readonly calls: readonly Call[];
  /** The place of the first of them. */
  readonly from: number;
  /** How many calls the list has. */
  readonly total: number;
}

/**
 * The latest calls. The first page tells how many match, and in which order they come: the latest are then at the end of the list
 * or, when the newest come first, at its beginning.
 */
async function* latestCalls(client: Client, part: Part, signal: AbortSignal): AsyncGenerator<Match> {
  const { filter, limit, skip, onUnordered } = part;
  const rows = Math.min(limit, clientDefaults.rows);
  const first = await client.listCalls({ filter, signal, rows });
  const total = first.total ?? (await client.countCalls({ filter, signal })).total;
  const isNewestFirst = !isOrdered(first.records);
  const wanted: Wanted = isNewestFirst
    ? () => [skip, skip + limit]
    : (total) => [Math.max(0, total - skip - limit), Math.max(0, total - skip)];
  const isWhole = first.records.length >= total;
  const { calls, ...read } = isWhole
    ? { calls: first.records, from: 0, total }
    : await readWanted(
        (page) => client.listCalls({ filter, signal, rows, page }).pages(),
        wanted,
        rows,
        total,
      );
  // What was read at the end of a list must also come after its beginning.
  const seen = isWhole || isNewestFirst ? calls : [...first.records.slice(0, 1), ...calls];
  if (!isOrdered(isNewestFirst ? seen.toReversed() : seen)) onUnordered?.();
  const [from, to] = wanted(read.total);
  for (const call of calls.slice(from - read.from, to - read.from)) yield { call, total: read.total };
}

/** Reads the pages that have the wanted calls. Calls that arrive meanwhile move these, so it goes on until the last is there. */
async function readWanted(
  pagesFrom: (page: number) => AsyncIterable<CallPage>,
  wanted: Wanted,
  rows: number,
  listed: number,
): Promise<Stretch> {
  const [first, end] = wanted(listed);
  const page = Math.floor(first / rows);
  const from = page * rows;
  const calls: Call[] = [];
  let total = listed;
  if (end === 0) return { calls, from, total };
  for await (const next of pagesFrom(page)) {
    calls.push(...next.records);
    total = next.total ?? total;
    if (from + calls.length >= wanted(total)[1]) break;
  }
  return { calls, from, total };
}

/** Are the calls in the order of time? */
function isOrdered(calls: readonly Call[]): boolean {
  let before = '';
  return calls.every(({ date_added: time }) => {
    const isAfter = before <= time;
    before = time;
    return isAfter;
  });
}
