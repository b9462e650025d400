import {
  type Client,
  type CopyScope,
  type PageItem,
  type RawPage,
  type RequestOptions,
  ResponseError,
} from '@call-attribution/core';
import { hour, second } from '@call-attribution/core/time';
import {
  type Clause,
  type Filter,
  type FilterInput,
  printFilter,
  simplify,
  toFilter,
} from '@call-attribution/query-dsl';
import { StreamError } from './errors.ts';
import type { Range } from './proof.ts';
import { type Answer, type Ask, type ListSource, Misplaced } from './reader/list.ts';
import { spanOf } from './times.ts';
import { type PageTotal, type Rows, Totals } from './totals.ts';
import type { Span } from './verdict.ts';

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

/** Positions of calls, in milliseconds. */
export const callSteps = { step: second, stray: hour } as const;

/**
 * No time zone is further from UTC: what is older is older everywhere, and what is later than this
 * is not the time of a call.
 */
export const zones = 14 * hour;

/** Calls after this still appear: they are not counted at the end of a read. */
export const countedUntil = (now: number): number => Math.floor(now / second) * second - zones;

/** The calls of a query, as a list that can be asked for ranges. */
export class CallSource implements ListSource<PageItem> {
  readonly query: CallQuery;
  account: string | null = null;
  readonly #client: PageClient;
  readonly #settings: RequestSettings;
  readonly #totals = new Totals();

  constructor(client: PageClient, query: CallQuery, { timeout, retry, headers }: RequestSettings) {
    this.#client = client;
    this.query = query;
    this.#settings = { timeout, retry, headers };
  }

  /** Which calls the server has, where it serves a copy that was filled with a filter. */
  get only(): readonly CopyScope[] {
    return this.#client.only ?? [];
  }

  async ask({ range, page, rows, signal }: Ask): Promise<Answer<PageItem>> {
    const filter = this.query.within(spanOf(range));
    const answer = await this.#fetch(filter, page, rows, signal);
    const items = answer.items();
    for (const { account } of items) {
      if (account === null) continue;
      this.account ??= account;
      if (account !== this.account) throw new StreamError('other_account');
    }

    return { items, total: await this.#totals.of(totalOf(answer), this.#rowsOf(filter, signal)) };
  }

  /** How many calls the server counts in a range; null when it does not say. */
  async count(range: Range, signal: AbortSignal): Promise<number | null> {
    try {
      return await this.#totals.count(this.#rowsOf(this.query.within(spanOf(range)), signal));
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

const lineEnd = 0x0a;
const quote = 0x22;
const backslash = 0x5c;
const hasLineEnd = (bytes: Buffer): boolean => bytes.includes(lineEnd) || bytes.includes(0x0d);

/**
 * Records as lines of JSON, as the server sent them. Line ends take the place of the commas in the
 * bytes of a page: nothing is copied.
 */
export function linesOf(items: readonly PageItem[]): Buffer {
  const { page, start } = items[0] as PageItem;
  const { end } = items.at(-1) as PageItem;
  const length = items.reduce((sum, one) => sum + one.end - one.start + 1, 0);
  const isRun = items.every((one) => one.page === page) && length === end + 1 - start;
  const lines = Buffer.from(page.bytes.buffer, page.bytes.byteOffset + start, isRun ? length : 0);
  if (!isRun || hasLineEnd(lines))
    return Buffer.concat(items.flatMap((item) => [lineOf(item), Buffer.of(lineEnd)]));
  for (const one of items) lines[one.end - start] = lineEnd;
  return lines;
}

/**
 * A record on one line: between values, a line end becomes a space. Inside a string it is no JSON,
 * and would be other data: the error is that of parsing the record.
 */
function lineOf(item: PageItem): Buffer {
  if (hasLineEndInString(item.page.bytes.subarray(item.start, item.end))) item.read();
  return bytesOf(item);
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
export function bytesOf({ page, start, end }: PageItem): Buffer {
  const bytes = Buffer.from(page.bytes.subarray(start, end));
  return hasLineEnd(bytes)
    ? Buffer.from(bytes.map((byte) => (byte === lineEnd || byte === 0x0d ? 0x20 : byte)))
    : bytes;
}
