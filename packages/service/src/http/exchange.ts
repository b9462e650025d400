import type { IncomingMessage, ServerResponse } from 'node:http';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import { serviceDefaults } from '../defaults.ts';

/** The points that the text of the API leaves open. */
export const shapeOptions = defineOptions({
  /** A single record as an object, or in an array of one. Default `object`. */
  singleAs: option.oneOf('object', 'array').default(serviceDefaults.singleAs),
  /**
   * The v2 count: `object` `{"count":18}`, `number` `18`, `text` `"18"`, `array` `[{"count":18}]`, or `header`: `[]`, with the
   * total in the header only. Default `object`.
   */
  countAs: option.oneOf('object', 'number', 'text', 'array', 'header').default(serviceDefaults.countAs),
  /** Rows of a page when the request names none. Default 100. */
  defaultRows: option.whole(1).default(serviceDefaults.defaultRows),
  /** Most rows of one page. Default 1,000. */
  maxRows: option.whole(1).default(serviceDefaults.maxRows),
  /** A request for more rows is refused with 400 (`reject`) or gets `maxRows` rows (`clamp`). Default `reject`. */
  rowsOver: option.oneOf('reject', 'clamp').default(serviceDefaults.rowsOver),
});

/** The points that the text of the API leaves open, as options. */
export interface ShapeOptions extends OptionsOf<typeof shapeOptions> {}
/** The points that the text of the API leaves open. */
export interface Shape extends ReadOf<typeof shapeOptions> {}

/** One request while the service handles it. */
export interface Exchange {
  /** The request as Node received it. */
  readonly request: IncomingMessage;
  /** The method, such as `GET`. */
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The query as sent, without `?`. */
  readonly query: string;
  /** The id that the client sent in `x-request-id`, or a new one. */
  readonly requestId: string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /**
   * Runs work in fair turn with other clients. It needs the store (the default), a thread of the pool of Node.js (`pool`), or only
   * the event loop (`loop`). Rejects when the client disconnects.
   */
  readonly turn: <T>(work: () => T | Promise<T>, needs?: 'store' | 'pool' | 'loop') => Promise<T>;
  /** The shapes and limits of this service. */
  readonly shape: Shape;
  /** What an intercept changes about this one reply. */
  readonly changes: ReplyChanges;
  /** The path pattern, for logs and metrics: never holds a value that a caller sent. */
  route: string;
  /** Id of the account whose credentials were accepted. Null until then. */
  account: string | null;
  /** The address of the client by which it is counted; the one that a proxy of the operator names. */
  readonly client: string;
  /** What else the log says about this request. Never anything about a caller. */
  audit: { readonly user?: string; readonly rows?: number };
}

/** A response to be sent. */
export interface Reply {
  /** The HTTP status. */
  status: number;
  /** The headers, with names in lower case. */
  headers: Record<string, string>;
  /** The body. When an iterable throws, the connection is closed early. */
  body: Buffer | string | AsyncIterable<Buffer> | null;
  /** About how many bytes an iterable body keeps in memory at the moment. Default 0. */
  heldBytes?: () => number;
}

/** Changes to one reply, for tests of clients that have to survive them. */
export interface ReplyChanges {
  /** Send at most this many rows, however many were requested. */
  readonly clampRows?: number;
  /** Start the page this many calls later, or earlier when negative. */
  readonly shift?: number;
  /** The shape of a single record. */
  readonly singleAs?: Shape['singleAs'];
  /** The shape of the v2 count. */
  readonly countAs?: Shape['countAs'];
}

/**
 * Sees each API request before the API does. It may respond itself, wait, wrap the response, or pass the request on with
 * `next`. Requests for health and metrics do not pass through it.
 *
 * @example
 * const slow: Intercept = (request, response, next) => setTimeout(next, 200);
 */
export type Intercept = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (changes?: ReplyChanges) => void,
) => void;

/**
 * A further path of the service, served without credentials.
 *
 * @example
 * const version: Route = { path: '/version', handle: () => ({ status: 200, headers: {}, body: '1.0' }) };
 */
export interface Route {
  /** The whole path, such as `/openapi.json`. */
  readonly path: string;
  /** Methods it accepts. Default GET, and with it HEAD. */
  readonly methods?: readonly string[];
  /** Makes the reply. A thrown `Refusal` becomes a problem document. */
  readonly handle: (exchange: Exchange) => Reply | Promise<Reply>;
}
