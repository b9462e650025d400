import type { IncomingMessage, ServerResponse } from 'node:http';

/** How the points look that the API text leaves open. */
export interface Shape {
  /** A single record as an object (default), or in an array of one. */
  singleAs: 'object' | 'array';
  /** The v2 count: `{"count":18}` (default), `18`, `"18"`, `[{"count":18}]`, or `[]` with the total in the header only. */
  countAs: 'object' | 'number' | 'text' | 'array' | 'header';
  /** Rows of a page when the request names none. Default 100. */
  defaultRows: number;
  /** Most rows of one page. Default 1,000. */
  maxRows: number;
  /** More rows than that: refused with 400 (`reject`, default) or cut to the most (`clamp`). */
  rowsOver: 'reject' | 'clamp';
}

/** One request on its way through the service. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The query as sent, without `?`. */
  readonly query: string;
  readonly requestId: string;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  readonly shape: Shape;
  /** What an intercept changes about this one answer. */
  readonly changes: AnswerChanges;
  /** The path pattern, for logs and metrics: never holds a value that a caller sent. */
  route: string;
  /** Id of the account that was let in, once it is known. */
  account: string | null;
}

/** What goes back. An iterable that throws cuts the connection. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | string | AsyncIterable<Buffer> | null;
}

/** Changes to one answer, for tests of clients that must survive them. */
export interface AnswerChanges {
  /** Give no more rows than this, however many were asked for. */
  readonly clampRows?: number;
  /** Start the page this many calls later, or earlier when negative. */
  readonly shift?: number;
  readonly singleAs?: Shape['singleAs'];
  readonly countAs?: Shape['countAs'];
}

/**
 * Stands before the API: sees each request first, and answers it, delays it, or hands it on with `next`. It may wrap the
 * response; health and metrics do not pass through it.
 */
export type Intercept = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (changes?: AnswerChanges) => void,
) => void;

/** An own path of the service, answered without credentials. */
export interface Route {
  /** The whole path, such as `/openapi.json`. */
  readonly path: string;
  /** Methods it takes. Default GET (and with it HEAD). */
  readonly methods?: readonly string[];
  readonly handle: (exchange: Exchange) => Answer | Promise<Answer>;
}
