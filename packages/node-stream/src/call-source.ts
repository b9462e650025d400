import {
  type Call,
  type Client,
  type CopyScope,
  type RawPage,
  type RequestOptions,
  ResponseError,
} from '@call-attribution/core';
import { scanFields } from '@call-attribution/core/page';
import { formatNaive, hour, parseNaive, second } from '@call-attribution/core/time';
import {
  type Clause,
  type Filter,
  type FilterInput,
  printFilter,
  simplify,
  toFilter,
} from '@call-attribution/query-dsl';
import { StreamError } from './errors.ts';
import type { Span } from './proof.ts';
import { type Answer, type Ask, type Item, type ListSource, Misplaced } from './reader/list.ts';
import { type PageTotal, type Rows, Totals } from './totals.ts';

/** The part of core's client that a read uses. Any client with it will do. */
export type PageClient = Pick<Client, 'version' | 'fetchPage'> & Partial<Pick<Client, 'only'>>;

/** The URL of the API that a client asks; null when it does not tell. */
export const addressOf = (client: PageClient): string | null =>
  'baseUrl' in client && typeof client.baseUrl === 'string' ? client.baseUrl : null;

/** What all requests of a read have in common. */
export type RequestSettings = Pick<RequestOptions, 'timeout' | 'retry' | 'headers'>;

/** A filter whose range of `date_added` can be cut. */
export interface CallQuery {
  /** Version and filter in one canonical form, for checkpoints. */
  readonly of: string;
  readonly filter: Filter;
  /** The filter without its range of `date_added`, in one canonical form. */
  readonly conditions: string;
  /** The range of `date_added` that it has, as it was written. */
  readonly asked: Span;
  /**
   * The filter of a part of that range, with or without its end. Where the part ends with it, it
   * ends as it was written.
   */
  within(range: Span, hasEnd?: boolean): Filter;
}

/** Separates the range of `date_added` from the rest of a filter. */
export function callQuery(input: FilterInput | undefined, version: 'v2' | 'v3'): CallQuery {
  const filter = simplify(toFilter(input ?? '', { version }));
  const others = filter.clauses.filter(({ field }) => field !== 'date_added');
  const own = filter.clauses.find(
    (clause) => clause.kind === 'range' && clause.field === 'date_added',
  );
  const [lower, upper] = own?.kind === 'range' ? [own.lower, own.upper] : [null, null];
  const asked = { from: lower?.text ?? null, to: upper?.text ?? null };
  return {
    of: `${version} ${printFilter(filter)}`,
    filter,
    conditions: printFilter({ clauses: others }),
    asked,
    within({ from, to }, hasEnd = true) {
      const endAt = (text: string | null, inclusive: boolean) =>
        text === null ? null : { text, inclusive };
      const range: Clause = {
        kind: 'range',
        field: 'date_added',
        lower: from === asked.from ? lower : endAt(from, true),
        upper: to === asked.to && hasEnd ? upper : endAt(to, hasEnd),
      };
      return {
        clauses: range.lower === null && range.upper === null ? others : [range, ...others],
      };
    },
  };
}

/** A record as it came. */
export interface RawRecord extends Item {
  readonly page: RawPage;
  readonly index: number;
  /** The range that was asked for. */
  readonly slice: Span;
}

/** Positions of calls, in milliseconds. */
export const callSteps = { step: second, stray: hour } as const;

/**
 * No time zone is further from UTC: what is older is older everywhere, and what is later than this
 * is not the time of a call.
 */
export const zones = 14 * hour;

/** The calls of a query, as a list that can be asked for ranges. */
export class CallSource implements ListSource<RawRecord> {
  readonly query: CallQuery;
  account: string | null = null;
  readonly #client: PageClient;
  readonly #settings: RequestSettings;
  /** Numbers of the ends of the query, so that they are sent as they were written. */
  readonly #ends: Span<number>;
  readonly #totals = new Totals();

  constructor(client: PageClient, query: CallQuery, { timeout, retry, headers }: RequestSettings) {
    this.#client = client;
    this.query = query;
    this.#settings = { timeout, retry, headers };
    this.#ends = { from: numberOf(query.asked.from), to: numberOf(query.asked.to) };
  }

  /** Which calls the server has, where it serves a copy that was filled with a filter. */
  get only(): readonly CopyScope[] {
    return this.#client.only ?? [];
  }

  spanOf({ from, to }: Span<number>): Span {
    const { asked } = this.query;
    return {
      from: from === this.#ends.from ? asked.from : timeOf(from),
      to: to === this.#ends.to ? asked.to : timeOf(to),
    };
  }

  async ask({ range, page, rows, signal }: Ask): Promise<Answer<RawRecord>> {
    const slice = this.spanOf(range);
    const filter = this.query.within(slice);
    const answer = await this.#fetch(filter, page, rows, signal);
    const ranges = answer.byteRanges();
    const bytes = Buffer.from(
      answer.bytes.buffer,
      answer.bytes.byteOffset,
      answer.bytes.byteLength,
    );
    const [accounts = [], sids = [], times = []] = scanFields(bytes, ranges, [
      'acct_id',
      'sid',
      'date_added',
    ]);
    for (const account of accounts) {
      if (account === undefined) continue;
      this.account ??= account;
      if (account !== this.account) throw new StreamError('other_account');
    }

    return {
      items: ranges.map(({ start, end }, index) => ({
        // A record without a sid goes by its own bytes: it is counted, and fails when it is parsed.
        id: sids[index] ?? bytes.toString('utf8', start, end),
        at: parseNaive(times[index]),
        page: answer,
        index,
        slice,
      })),
      total: await this.#totals.of(totalOf(answer), this.#rowsOf(filter, signal)),
    };
  }

  /** How many calls the server counts in a range; null when it does not say. */
  async count(range: Span, signal: AbortSignal): Promise<number | null> {
    try {
      return await this.#totals.count(this.#rowsOf(this.query.within(range), signal));
    } catch {
      signal.throwIfAborted();
      return null;
    }
  }

  #rowsOf(filter: Filter, signal: AbortSignal): Rows {
    return {
      ofList: async (page) => totalOf(await this.#fetch(filter, page, 1, signal)),
      ofAll: async () => totalOf(await this.#fetch({ clauses: [] }, 0, 1, signal)),
    };
  }

  async #fetch(filter: Filter, page: number, rows: number, signal: AbortSignal): Promise<RawPage> {
    try {
      return await this.#client.fetchPage({ ...this.#settings, filter, rows, page, signal });
    } catch (error) {
      if (error instanceof ResponseError && misplaced.has(error.code))
        throw new Misplaced('', { cause: error });
      throw error;
    }
  }
}

const totalOf = ({ count, range }: RawPage): PageTotal => ({
  rows: count,
  total: range?.total ?? null,
});

// Codes of the client's errors for pages that are not what their place in the list says.
const misplaced: ReadonlySet<string> = new Set(['wrong_page', 'list_moved']);

export const numberOf = (time: string | null): number | null =>
  time === null ? null : parseNaive(time);
const timeOf = (at: number | null): string | null => (at === null ? null : formatNaive(at));

export const parsed = ({ page, index }: RawRecord): Call => page.record(index);

const lineEnd = 0x0a;
const quote = 0x22;
const backslash = 0x5c;
const hasLineEnd = (bytes: Buffer): boolean => bytes.includes(lineEnd) || bytes.includes(0x0d);

/**
 * Records as lines of JSON, as the server sent them. Line ends take the place of the commas in the
 * bytes of a page: nothing is copied.
 */
export function linesOf(records: readonly RawRecord[]): Buffer {
  const { page } = records[0] as RawRecord;
  const ranges = records.flatMap((record) => record.page.byteRanges()[record.index] ?? []);
  const start = ranges[0]?.start ?? 0;
  const end = ranges.at(-1)?.end ?? 0;
  const length = ranges.reduce((sum, one) => sum + one.end - one.start + 1, 0);
  const isRun = records.every((one) => one.page === page) && length === end + 1 - start;
  const lines = Buffer.from(page.bytes.buffer, page.bytes.byteOffset + start, isRun ? length : 0);
  if (!isRun || hasLineEnd(lines))
    return Buffer.concat(records.flatMap((record) => [lineOf(record), Buffer.of(lineEnd)]));
  for (const one of ranges) lines[one.end - start] = lineEnd;
  return lines;
}

/**
 * A record on one line: between values, a line end becomes a space. Inside a string it is no JSON,
 * and would be other data: the error is that of parsing the record.
 */
function lineOf(record: RawRecord): Buffer {
  const { page, index } = record;
  const { start = 0, end = 0 } = page.byteRanges()[index] ?? {};
  if (hasLineEndInString(page.bytes.subarray(start, end))) parsed(record);
  return bytesOf(record);
}

function hasLineEndInString(bytes: Uint8Array): boolean {
  let isString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) isString = !isString;
    else if (isString && byte === backslash) at += 1;
    else if (isString && (byte === lineEnd || byte === 0x0d)) return true;
  }
  return false;
}

/** The bytes of a record on one line, with a space for each line end. */
export function bytesOf({ page, index }: Pick<RawRecord, 'page' | 'index'>): Buffer {
  const range = page.byteRanges()[index];
  const bytes = Buffer.from(page.bytes.subarray(range?.start ?? 0, range?.end ?? 0));
  return hasLineEnd(bytes)
    ? Buffer.from(bytes.map((byte) => (byte === lineEnd || byte === 0x0d ? 0x20 : byte)))
    : bytes;
}
