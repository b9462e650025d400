import { plainHeaders, requestIdOf } from '../http/headers.ts';
import type { Answer, Outgoing } from '../http/transport.ts';
import type { Operation } from '../observe/channels.ts';
import type { ResponseInfo, SignalOptions } from './client.ts';

/** One thing to ask the server, and how to read the answer. What `read` throws counts as a failed attempt. */
export interface Ask<T> {
  /** Tells the events of one request from those of others. Empty, so that it can be printed with them. */
  readonly id: object;
  readonly operation: Operation;
  readonly request: Outgoing;
  /** The address as it may be shown. */
  readonly url: string;
  /** What to say when the credentials are refused. */
  readonly authHint: string;
  /** Statuses beside 200 and 206 that `read` understands. */
  readonly alsoRead?: readonly number[];
  readonly signal: AbortSignal | undefined;
  readonly onResponse: SignalOptions['onResponse'];
  read(answer: Answer): T | Promise<T>;
}

/** What came of it. */
export interface Asked<T> {
  readonly value: T;
  readonly answer: Answer;
  readonly attempts: number;
}

/** What can be told of the answer behind a result. */
export const responseOf = ({ answer: { status, headers }, attempts }: Asked<unknown>): ResponseInfo => ({
  status,
  headers: plainHeaders(headers),
  requestId: requestIdOf(headers),
  attempts,
});
