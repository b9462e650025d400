import type { Answer, Outgoing } from '../http/transport.ts';
import type { Operation } from '../observe/channels.ts';

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
  read(answer: Answer): T | Promise<T>;
}

/** What came of it. */
export interface Asked<T> {
  readonly value: T;
  readonly answer: Answer;
  readonly attempts: number;
}
