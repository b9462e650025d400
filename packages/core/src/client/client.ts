import type { PageRange } from '../page/content-range.ts';
import type { CopyScope } from '../page/copy-scope.ts';
import type { ByteRange } from '../page/split-records.ts';
import type { Version } from '../record/fields.ts';
import type { Call } from '../record/generated/calls.ts';
import type { SmsNumber } from '../sms/read-sms-numbers.ts';
import type { ListQuery, RequestOptions, ResponseInfo, SmsOptions } from './options.ts';

/** The response that a page was read from, and what was requested. */
export interface ResponseMeta extends ResponseInfo {
  /** Rows requested. */
  readonly rows: number;
  /** Number of the page requested, counted from 0. */
  readonly page: number;
  /** The real page size, if the server sent fewer rows than requested although it has more. */
  readonly clampedTo?: number;
}

/** One page of calls. */
export interface CallPage {
  /** The calls, checked. */
  readonly records: readonly Call[];
  /** Which calls of the list the server's page has; null when the server does not say. */
  readonly range: PageRange | null;
  /** Calls of the whole list; null when the server does not say. */
  readonly total: number | null;
  /** The response, and what was requested. */
  readonly meta: ResponseMeta;
  /** Is there a page after this one? Without a `total` only an empty page shows that it is not. */
  hasNext(): boolean;
  /** The page after this one. Rejects when there is none. */
  next(): Promise<CallPage>;
}

/**
 * A list of calls: awaited, it is one page; iterated, it is all calls from that page on, in order.
 * Iterating again reads the later pages again.
 *
 * Lists may change while they are read. Calls that come again because the list has grown are
 * dropped; when it has shrunk, calls may have been missed, and the list ends with the code
 * `list_moved`. To read a live account and prove that no call is missing, use
 * `createCallStream` of `@call-attribution/node-stream`.
 */
export interface CallList extends Promise<CallPage>, AsyncIterable<Call> {
  /** The same list page by page, for programs that show progress or work on whole pages. */
  pages(): AsyncIterable<CallPage>;
}

/** One page as it was received: complete and the right one, but not parsed. */
export interface RawPage {
  /** The body, decoded. It may be kept. */
  readonly bytes: Uint8Array;
  /**
   * Which calls of the list these are; null when the server does not say. Where a row comes twice
   * that the server counts once, `last` may lie past `total`.
   */
  readonly range: PageRange | null;
  /** The response, and what was requested. */
  readonly meta: ResponseMeta;
  /** Number of records, counted in the bytes. */
  readonly count: number;
  /** The records, in their order: found in the bytes when this is first called. */
  items(): readonly PageItem[];
}

/** A record of a page: found in its bytes, and not parsed before it is read. */
export interface PageItem extends ByteRange {
  /** Its `sid`; the record itself, as text, where it has none. */
  readonly id: string;
  /** Its `date_added` in milliseconds of the account's clock; NaN where it has none. */
  readonly at: number;
  /** Its `acct_id`; null where it has none. */
  readonly account: string | null;
  /** The page that it came with. */
  readonly page: RawPage;
  /** Its place on that page, from 0. */
  readonly index: number;
  /** Parses and checks it. */
  read(): Call;
}

/** Where a count comes from: the count request, or the Content-Range of a response. */
export type CountSource = 'count' | 'content-range';

/** How many calls there are. */
export interface CallCount {
  /** The number of calls. */
  readonly total: number;
  /** Where the number comes from. */
  readonly source: CountSource;
}

/**
 * A client of the API, for one account and one version. Made by `createClient`; `await using`
 * closes it.
 */
export interface Client extends AsyncDisposable {
  /** Version of the API that it uses. */
  readonly version: Version;
  /** Base URL of its requests, without secrets. */
  readonly baseUrl: string;
  /**
   * Which calls the server has, where it serves a copy that was filled with a filter, as its last
   * list or count said. Empty where it says nothing, and before the first response.
   */
  readonly only: readonly CopyScope[];
  /**
   * Lists calls: iterate over all of them, or await one page. The first request is sent at once.
   *
   * @example
   * for await (const call of client.listCalls({ filter })) console.log(call.sid);
   *
   * let page = await client.listCalls({ filter, rows: 100 });
   * console.log(`${page.records.length} of ${page.total}`);
   * while (page.hasNext()) page = await page.next();
   */
  listCalls(query?: ListQuery): CallList;
  /** One call by its id. Rejects with code `not_found` when the account does not have it. */
  getCall(sid: string, options?: RequestOptions): Promise<Call>;
  /** How many calls match. */
  countCalls(query?: Omit<ListQuery, 'rows' | 'page'>): Promise<CallCount>;
  /** The SMS-enabled numbers of the account. */
  listSmsNumbers(options?: SmsOptions): Promise<SmsNumber[]>;
  /**
   * One page as bytes, for programs that pass records on without parsing them. Everything else is
   * for `listCalls`.
   */
  fetchPage(query?: ListQuery): Promise<RawPage>;
  /**
   * Lets requests in progress finish, then closes the sockets. A request that waits for its next
   * attempt ends with `client_closed`.
   */
  close(): Promise<void>;
}
