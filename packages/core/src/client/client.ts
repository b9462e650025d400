import type { Filter } from '@call-attribution/query-dsl';
import type { PageRange } from '../page/content-range.ts';
import type { ByteRange } from '../page/split-records.ts';
import type { Call } from '../record/generated/calls.ts';
import type { SmsNumber } from '../sms/read-sms-numbers.ts';
import type { Version } from '../version.ts';

/** What can be given as a filter: text, a parsed or built filter, or a builder. */
export type FilterInput = string | Filter | { toFilter(): Filter };

/** What any request takes. */
export interface SignalOptions {
  readonly signal?: AbortSignal;
  /** Told of the answer a result was read from: status, headers, request id. What it throws fails the request. */
  readonly onResponse?: (response: ResponseInfo) => void;
}

/** Which calls to list. */
export interface ListQuery extends SignalOptions {
  readonly filter?: FilterInput;
  /** Calls in a page. @default 250 */
  readonly rows?: number;
  /** Number of the page, counted from 0, in pages of `rows`. @default 0 */
  readonly start?: number;
}

/** The answer behind a result. */
export interface ResponseInfo {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string | null;
  /** How many times the request was sent. */
  readonly attempts: number;
}

/** The answer behind a page, and what was asked for. */
export interface ResponseMeta extends ResponseInfo {
  /** Rows asked for. */
  readonly rows: number;
  /** Page asked for. */
  readonly start: number;
  /** The real page size, when the server gave fewer rows than asked although it has more. */
  readonly clampedTo?: number;
}

/** One page of calls. */
export interface CallPage {
  readonly records: readonly Call[];
  /** Which calls these are; null when the server does not say. */
  readonly range: PageRange | null;
  readonly meta: ResponseMeta;
}

/** One page as it was received: proved to be whole and the right one, not parsed. */
export interface RawPage {
  readonly bytes: Uint8Array;
  readonly range: PageRange | null;
  readonly meta: ResponseMeta;
  /** Number of records, counted in the bytes. */
  readonly count: number;
  /** Where each record is within `bytes`. */
  byteRanges(): readonly ByteRange[];
  /** Parses, checks and adapts all records. */
  records(): Call[];
  /** Parses, checks and adapts one record. */
  record(index: number): Call;
  /** For those who are done with the page: its memory is used again, so `bytes` must not be read any more. Optional. */
  release?(): void;
}

/** Where a count comes from: the count request, or the Content-Range of an answer. */
export type CountSource = 'count' | 'content-range';

/** How many calls there are. */
export interface CallCount {
  readonly total: number;
  readonly source: CountSource;
}

/** Options of `listSmsNumbers`. */
export interface SmsOptions extends SignalOptions {
  /** `POST` sends the keys in a form body, where no access log writes them down. @default 'GET' */
  readonly method?: 'GET' | 'POST';
}

/** A client of the API, for one account in one version. */
export interface Client {
  readonly version: Version;
  /** The address it asks, without secrets. */
  readonly baseUrl: string;
  /** One page of calls. */
  listCalls(query?: ListQuery): Promise<CallPage>;
  /** All pages from `start` on, one after another. */
  pages(query?: ListQuery): AsyncIterable<CallPage>;
  /** All calls from page `start` on, one after another. */
  calls(query?: ListQuery): AsyncIterable<Call>;
  /** One call by its id; an error with code `not_found` when there is none. */
  getCall(sid: string, options?: SignalOptions): Promise<Call>;
  /** How many calls match. */
  countCalls(query?: Omit<ListQuery, 'rows' | 'start'>): Promise<CallCount>;
  /** The SMS-enabled numbers of the account. */
  listSmsNumbers(options?: SmsOptions): Promise<SmsNumber[]>;
  /** One page as bytes. */
  fetchPage(query?: ListQuery): Promise<RawPage>;
  /** Lets requests on the wire finish, then frees the sockets. One that waits for its next attempt ends with `client_closed`. */
  close(): Promise<void>;
}
