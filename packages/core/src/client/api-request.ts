import type { AuthKind } from '../errors/messages.ts';
import type { HttpRequest } from '../http/dispatch.ts';
import { plainHeaders, requestIdOf } from '../http/headers.ts';
import type { HttpResponse } from '../http/transport.ts';
import type { Client } from './client.ts';
import type { Operation } from './events.ts';
import type { RequestOptions, ResponseInfo } from './options.ts';

/** One request to the API, and how its response is read. An error of `read` counts as a failed attempt. */
export interface ApiRequest<T> {
  readonly client: Client;
  readonly operation: Operation;
  readonly http: HttpRequest;
  /** The URL as it may be shown. */
  readonly url: string;
  /** Which credentials the request carries. */
  readonly authKind: AuthKind;
  /** Statuses besides 200 and 206 that `read` understands. */
  readonly alsoRead?: readonly number[];
  readonly options: RequestOptions;
  read(response: HttpResponse): T | Promise<T>;
}

/** What a request returned. */
export interface ApiResponse<T> {
  readonly value: T;
  readonly response: HttpResponse;
  /** How many times the request was sent. */
  readonly attempts: number;
}

/** What callers may know of the response that a result was read from. */
export const responseInfo = ({
  response: { status, headers },
  attempts,
}: ApiResponse<unknown>): ResponseInfo => ({
  status,
  headers: plainHeaders(headers),
  requestId: requestIdOf(headers),
  attempts,
});
