import { setImmediate } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { LogEntry, ReplyChanges, RouteFacts } from './public-types.ts';

/** One request while the service handles it. */
export interface Exchange {
  /** The id that the client sent in `x-request-id`, or a new one. */
  readonly requestId: string;
  /** What an intercept changes about this one reply. */
  readonly changes: ReplyChanges;
  /** The path pattern, for logs and metrics: never holds a value that a caller sent. */
  route: string;
  /**
   * What the log says besides: the account whose credentials were accepted, and what was fetched.
   * Never anything about a caller.
   */
  audit: Pick<LogEntry, 'account' | 'user' | 'rows'>;
  /** What went wrong in the service. */
  fault?: unknown;
  /** Called when the response has been sent, or its client has left. */
  readonly ends: (() => void)[];
}

/** What is known of each request: the bindings of Node.js where it runs there. */
export interface AppEnv {
  Bindings: Partial<HttpBindings> & { readonly exchange: Exchange };
}

/** A request in the app. */
export type AppContext = Context<AppEnv>;

/** A path of the service. */
export interface AppRoute extends RouteFacts {
  readonly handle: (c: AppContext) => Response | Promise<Response>;
}

/** Responds with a body that is at hand. Its length tells whether it is worth compressing. */
export function wholeReply(
  c: AppContext,
  body: string | Uint8Array,
  headers: Record<string, string>,
  status: ContentfulStatusCode = 200,
): Response {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;

  // A stream of one piece: bytes and strings would be copied.
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (bytes.length > 0) controller.enqueue(bytes);
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return c.body(stream, status, { ...headers, 'content-length': String(bytes.length) });
}

/** Responds with JSON. */
export function jsonReply(
  c: AppContext,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Response {
  return wholeReply(c, body, { ...headers, 'content-type': 'application/json' });
}

let turn: Promise<unknown> = Promise.resolve();

/**
 * In each round of the event loop one piece of one response is made, so that short requests are
 * heard in between.
 */
function nextTurn(): Promise<unknown> {
  turn = turn.then(() => setImmediate());
  return turn;
}

/** Responds with a body that is made piece by piece, as fast as the client reads. */
export function streamReply(
  c: AppContext,
  pieces: AsyncIterable<Uint8Array>,
  headers: Record<string, string>,
): Response {
  const { exchange, outgoing } = c.env;

  async function* paced(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of pieces) {
        await nextTurn();
        yield piece;
      }
    } catch (error) {
      exchange.fault = error;
      // The head has been sent: closing the connection is the only way left to report the failure.
      if (outgoing === undefined) throw error;
      outgoing.destroy();
    }
  }

  return c.body(ReadableStream.from(paced()), 200, headers);
}

/** The query as it was sent, without `?`. */
export function queryOf({ req }: AppContext): string {
  const mark = req.url.indexOf('?');
  return mark < 0 ? '' : req.url.slice(mark + 1);
}

/**
 * Does the client have the response with this tag already? `given` is its header `if-none-match`.
 */
export function hasTag(etag: string, given = ''): boolean {
  const bare = (tag: string): string => tag.trim().replace(/^W\//, '');
  return given.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(etag));
}
