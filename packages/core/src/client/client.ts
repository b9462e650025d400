import type { FilterInput } from '@call-attribution/query-dsl';
import type { CustomHeaders } from '../http/custom-headers.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { PageRange } from '../page/content-range.ts';
import type { ByteRange } from '../page/split-records.ts';
import type { Version } from '../record/fields.ts';
import type { Call } from '../record/generated/calls.ts';
import type { SmsNumber } from '../sms/read-sms-numbers.ts';
import type { Timeouts } from './options.ts';

/** What every method takes. */
export interface RequestOptions {
  /** Ends the request when it is aborted; the request rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Deadlines of this request that differ from those of the client. A list has them for each of its pages. */
  readonly timeout?:
    | { readonly [name in Exclude<keyof Timeouts, 'connect'>]?: number | undefined }
    | undefined;
  /** When this request is sent again, where that differs from the client. */
  readonly retry?: { readonly [name in keyof RetryPolicy]?: RetryPolicy[name] | undefined } | undefined;
  /** Headers of this request, in addition to those of the client or instead of them; `undefined` leaves one out. */
  readonly headers?: CustomHeaders | undefined;
  /** Called with the response that the result was read from. An error it throws fails the request. */
  readonly onResponse?: ((response: ResponseInfo) => void) | undefined;
}

/** Which calls to list. */
export interface ListQuery extends RequestOptions {
  /** Which calls. @default all calls */
  readonly filter?: FilterInput | undefined;
  /** Calls of a page. @default 250 */
  readonly rows?: number | undefined;
  /** Number of the first page, counted from 0, in pages of `rows`. @default 0 */
  readonly page?: number | undefined;
}

/** The response that a result was read from. */
export interface ResponseInfo {
  /** HTTP status. */
  readonly status: number;
  /** Headers by their names in lower case, without cookies. */
  readonly headers: Readonly<Record<string, string>>;
  /** Id under which the server knows the request; null when it does not send one. */
  readonly requestId: string | null;
  /** How many times the request was sent. */
  readonly attempts: number;
}

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
 * A list of calls: awaited, it is one page; iterated, it is all calls from that page on, in order. Iterating again reads the
 * later pages again.
 *
 * Lists may change while they are read. Calls that come again because the list has grown are dropped, and pages are read again
 * when it has shrunk, as far as totals and ids show it. To read a live account and prove that no call is missing, use
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
  /** Which calls of the list these are; null when the server does not say. */
  readonly range: PageRange | null;
  /** The response, and what was requested. */
  readonly meta: ResponseMeta;
  /** Number of records, counted in the bytes. */
  readonly count: number;
  /** Where each record is within `bytes`. */
  byteRanges(): readonly ByteRange[];
  /** Parses and checks all records. */
  records(): Call[];
  /** Parses and checks one record. */
  record(index: number): Call;
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

/** How to list the SMS-enabled numbers. */
export interface SmsOptions extends RequestOptions {
  /** `POST` sends the keys in a form body, which access logs do not record. @default 'GET' */
  readonly method?: 'GET' | 'POST' | undefined;
}

/** A client of the API, for one account and one version. Made by `createClient`; `await using` closes it. */
export interface Client extends AsyncDisposable {
  /** Version of the API that it uses. */
  readonly version: Version;
  /** Base URL of its requests, without secrets. */
  readonly baseUrl: string;
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
  /** One page as bytes, for programs that pass records on without parsing them. Everything else is for `listCalls`. */
  fetchPage(query?: ListQuery): Promise<RawPage>;
  /** Lets requests in progress finish, then closes the sockets. A request that waits for its next attempt ends with `client_closed`. */
  close(): Promise<void>;
}
