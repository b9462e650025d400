import { type Call, CallsError, type Client, clientDefaults } from '@call-attribution/core';
import type { Period } from '@call-attribution/core/time';
import type {
  CallStreamOptions,
  MonthSource,
  Position,
  Span,
  Verdict,
} from '@call-attribution/node-stream';
import { describe } from '@call-attribution/node-stream/copies';
import { allOf, type Filter, toFilter } from '@call-attribution/query-dsl';
import type { Answer } from '@call-attribution/questions';
import { firstCallSaid } from './first-call.ts';
import type { ReadResult, Remarks } from './verdict.ts';

/** How many calls match, and how that is known. */
export interface Total extends Remarks {
  readonly total: number;
  readonly source: string;
  /** How calls through call extensions are counted; a copy knows it. */
  readonly extensions?: Answer['extensions'];
}

/** A call that was looked for. */
export interface Found extends Remarks {
  /** Null when there is none. */
  readonly call: Call | null;
}

/** The latest calls that match, in the order of their time. */
export interface Latest extends Remarks {
  readonly calls: readonly Call[];
  /** How many match. */
  readonly total: number;
  /** The server does not list calls by time, so that later ones may be elsewhere. */
  readonly isUnordered: boolean;
}

/** Calls that are read. What is known before the first one is said at once. */
export interface Reading extends Remarks {
  readonly stream: AsyncIterable<Call>;
  /** Never rejects: what fails reaches whoever reads the stream. */
  readonly result: Promise<ReadResult>;
}

/** The calls of an account, period by period, for files of months. */
export interface AccountMonths extends Pick<MonthSource, 'read' | 'removals' | 'isCurrent'> {
  /** The ID; null where only its calls tell. */
  readonly account: string | null;
  /** Which calls: those that were asked for, of those that there are. */
  readonly filter: Filter;
}

/** The calls of each account apart. What is known before they are read is said at once. */
export interface Months extends Remarks {
  readonly accounts: readonly AccountMonths[];
  /** How it ended: so many calls are in files, with these verdicts. */
  result(calls: number, verdicts: readonly Verdict<Position>[]): Promise<ReadResult>;
}

/** Where a command reads calls: the API of an account, or a copy of one or more. */
export interface Source {
  /** Address of the API without credentials, or the name of what holds the copy. */
  readonly address: string | null;
  /** Why a file that was begun cannot be continued; null where it can. */
  readonly startsOver: string | null;
  /** Who answers, and what is lacking of a period. */
  about(period?: Period): Promise<Remarks>;
  count(filter: Filter): Promise<Total>;
  /** That the calls begin or end within the period of a filter, as sentences; none where they do not. */
  dataEnds(filter: Filter): Promise<readonly string[]>;
  /** The call with this session ID. */
  get(sid: string): Promise<Found>;
  latest(filter: Filter, most: number): Promise<Latest>;
  /**
   * All calls that match, in the order of time, and whether these are all. `check` is called where
   * `onError` leaves out what it refuses.
   */
  read(options: CallStreamOptions): Promise<Reading>;
  /** The same of each account apart, for files of months. */
  months(options: CallStreamOptions): Promise<Months>;
  /**
   * What was erased and purged here, as JSON, which a file of the calls takes along; null for
   * nothing.
   */
  removals(): Promise<string | null>;
  close(): Promise<void>;
}

/** The API as a source. Closing it closes the client. */
export function apiSource(client: Client, signal: AbortSignal): Source {
  // A server that serves a copy which was filled with a filter says so with its first answer.
  const about = (): Remarks => {
    const scope = describe(client).scope;
    const lacks = scope === null ? [] : [`the server ${client.baseUrl} has ${scope}`];
    return { said: lacks, lacks };
  };

  const read = async (options: CallStreamOptions): Promise<Reading> => {
    const { resultOf, readCalls } = await import('./verdict.ts');
    const { check, ...others } = options;

    // Where nothing is left out, the encoder notices it, too.
    const { stream, verdict } = readCalls(client, {
      signal,
      ...others,
      ...(options.onError === 'fail' ? {} : { check }),
    });
    return { said: [], lacks: [], stream, result: verdict.then((each) => resultOf(each, about())) };
  };

  return {
    address: client.baseUrl,
    startsOver: null,
    about: async () => about(),
    async count(filter) {
      const counted = await client.countCalls({ filter, signal });
      const { said, lacks } = about();
      return {
        ...counted,
        said: [...said, ...(await this.dataEnds(filter))],
        lacks,
      };
    },
    dataEnds: (filter) => firstCallSaid(client, filter, signal),
    async get(sid) {
      const call = await client.getCall(sid, { signal }).catch(async (error: unknown) => {
        if (!CallsError.is(error, 'not_found')) throw error;
        // Where the list is not there either, the URL is wrong, and not the session ID.
        await client.listCalls({ rows: 1, signal });
        return null;
      });
      return { call, ...about() };
    },
    latest: async (filter, most) => ({
      ...(await latestCalls(client, filter, most, signal)),
      ...about(),
    }),
    read,
    months: async (options) => monthsOfReads(read, options, async () => about()),
    removals: async () => null,
    close: () => client.close(),
  };
}

/** The months of one account, each by a read of its own. */
export function monthsOfReads(
  read: Source['read'],
  options: CallStreamOptions,
  about: Source['about'],
): Months {
  const filter = toFilter(options.filter ?? '');
  const account: AccountMonths = {
    account: null,
    filter,
    async read(period, signal) {
      const { stream, result } = await read({
        ...options,
        filter: withBothEnds(filter, period),
        ...(signal ? { signal } : {}),
      });
      return { calls: stream, verdict: async () => (await result).verdict };
    },
  };
  return {
    said: [],
    lacks: [],
    accounts: [account],
    async result(_, [verdict]) {
      const { resultOf } = await import('./verdict.ts');
      return resultOf(verdict as Verdict<Position>, await about());
    },
  };
}

/** A filter with a range of its own, both ends included, as readers ask for it. */
export function withBothEnds(filter: Filter, { from, to }: Span): Filter {
  if (from === null && to === null) return filter;
  const end = (text: string | null) => (text === null ? null : { text, inclusive: true });
  return allOf(filter, {
    clauses: [{ kind: 'range', field: 'date_added', lower: end(from), upper: end(to) }],
  });
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
): Promise<Omit<Latest, keyof Remarks>> {
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
