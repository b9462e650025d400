// What users of the package name. It names no type of Hono, whose declarations need those of a
// browser.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duration } from '@call-attribution/core/time';
import type { Shape } from '../defaults.ts';
import type { Access } from './access.ts';

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
  /** The body is not compressed. */
  readonly isPlain?: boolean;
}

/**
 * Sees each request that reaches the service through Node.js before the API does: those of `listen`
 * and `handler`, not of `fetch`.
 * `next` resolves to the response of the service; what the intercept returns is sent. Null: it sends a response itself.
 *
 * @example
 * const slow: Intercept = async (request, response, next) => {
 *   await setTimeout(200);
 *   return next();
 * };
 */
export type Intercept = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (changes?: ReplyChanges) => Promise<Response>,
) => Promise<Response | null>;

/**
 * A further path of the service, served without credentials.
 *
 * @example
 * const version: Route = { path: '/version', handle: () => new Response('1.0') };
 */
export interface Route {
  /** The whole path, such as `/openapi.json`. */
  readonly path: string;
  /** Methods it accepts. Default GET, and with it HEAD. */
  readonly methods?: readonly string[];
  /** Makes the response. A thrown `Refusal` becomes a problem document. */
  readonly handle: (request: Request) => Response | Promise<Response>;
}

/** Who may use a path, what a request costs, and what it shows. */
export interface RouteFacts {
  /** The whole path; the name of a parameter is in braces, as in `/calls/{sid}`. */
  readonly path: string;
  /** Methods it accepts. Default GET, and with it HEAD. */
  readonly methods?: readonly string[];
  /**
   * `anyone`; who has the `keys` of an account; a `viewer` of the page, which the keys of an account
   * or a password make; or the tool that fetches a `feed`.
   */
  readonly who: 'anyone' | 'keys' | 'viewer' | 'feed';
  /** Whether a request takes one of the places that its account has at a time. */
  readonly takesPlace: boolean;
  /**
   * What it shows: nothing of the store, names of accounts, what a team has set up, numbers of
   * calls, or calls.
   */
  readonly shows: 'nothing' | 'accounts' | 'setup' | 'counts' | 'calls';
}

/** Somebody who may see the page. `readViewers` makes viewers from a configuration file. */
export interface Viewer {
  /** The user name and the password. */
  readonly access: Access;
  /** IDs or names of the accounts whose calls they see; null for all accounts. */
  readonly accounts: readonly string[] | null;
  /** Whether they see numbers and names of callers, and what visitors wrote. */
  readonly personal: boolean;
}

/** What the log says of a request. */
export interface LoggedRequest {
  /** The id in the header `x-request-id` of the response. */
  readonly requestId: string;
  /** The HTTP method. */
  readonly method: string;
  /** The path pattern, such as `/v3/user/bid-management/{sid}`. */
  readonly route: string;
  /** The HTTP status; 499 for a request that was abandoned before its response began. */
  readonly status: number;
  /** How long the request took. */
  readonly milliseconds: number;
  /** Id of the account whose credentials were accepted. */
  readonly account: string;
  /** User name with which a feed was fetched. */
  readonly user: string;
  /** Rows of the feed that was fetched. */
  readonly rows: number;
  /** Name and code of the error behind a failure. */
  readonly error: string;
}

/** One entry of the log. It never holds a key, a query, caller data or an IP address. */
export interface LogEntry extends Partial<LoggedRequest> {
  /** When the response ended, in ISO 8601. */
  readonly time: string;
  /** `error` when the service failed or the response was cut short. */
  readonly level: 'info' | 'error';
  /**
   * For a request `completed`, `failed`, or `abandoned` when the client left or was closed before
   * the end of the response. A sentence for anything else.
   */
  readonly message: string;
}

/** How many requests one key may make in a span of time. */
export interface RateLimit {
  /** Requests in each span. */
  readonly requests: number;
  /** Length of a span. */
  readonly per: Duration;
}

/** A request listener of Node.js, as Express and Fastify take it too. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What Node.js knows of a request that came through it. */
export interface NodeExchange {
  /** The request. */
  readonly incoming: IncomingMessage;
  /** The response. */
  readonly outgoing: ServerResponse;
}

/** Handles a request. Where it comes through Node.js, `env` has what Node.js knows of it. */
export type Fetch = (request: Request, env?: Partial<NodeExchange>) => Promise<Response>;
