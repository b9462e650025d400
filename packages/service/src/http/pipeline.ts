import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';

/** Handles one request of a connection. */
export type Listener = (request: IncomingMessage, response: ServerResponse, connection: Connection) => void;

/** Requests of one server in the order of their connections. */
export interface Pipelines {
  /** Takes the next request of a connection. */
  add(request: IncomingMessage, response: ServerResponse, connection: Connection): void;
  /**
   * Ends a connection on which something came that is not a request: `refuse` is called when the responses in progress have
   * been sent, since its bytes must not get between theirs.
   */
  fail(connection: Connection, refuse: () => void): void;
}

type Pair = readonly [IncomingMessage, ServerResponse];

interface Line {
  current: Pair | null;
  readonly waiting: Pair[];
  /** Requests that came after the last one that is answered. */
  ignored: number;
  last: (() => void) | null;
}

/** A connection whose requests are ignored is closed when there are this many: on it, and on all together. */
const mostIgnored = { here: 1_000, inAll: 5_000 };

/**
 * Node starts to handle all requests that a client has sent ahead. Here the next one starts when the response before it has
 * been sent, at most `most` wait, and `refuse` ends the connection after them. None of them is handled when the client leaves.
 */
export function createPipelines(
  most: number,
  connections: Connections,
  handle: Listener,
  refuse: Listener,
): Pipelines {
  const lines = new WeakMap<Connection, Line>();
  let ignoredInAll = 0;

  const lineOf = (connection: Connection): Line => {
    let line = lines.get(connection);
    if (line === undefined) {
      line = { current: null, waiting: [], ignored: 0, last: null };
      const own = line;
      connection.gone.addEventListener('abort', () => {
        own.waiting.length = 0;
        ignoredInAll -= own.ignored;
      });
      lines.set(connection, line);
    }
    return line;
  };

  const start = (line: Line, connection: Connection, [request, response]: Pair, listener: Listener): void => {
    line.current = [request, response];
    if (connection.state !== 'busy') connections.enter(connection, 'busy');
    response.once('close', () => {
      line.current = null;
      const next = connection.gone.aborted ? undefined : line.waiting.shift();
      const isOver = line.ignored > 0 && line.waiting.length === 0;
      if (next !== undefined) return start(line, connection, next, isOver ? refuse : handle);
      connections.enter(connection, 'idle');
      line.last?.();
    });
    listener(request, response, connection);
  };

  return {
    add(request, response, connection) {
      const line = lineOf(connection);
      if (connection.gone.aborted) return;
      if (line.current === null) start(line, connection, [request, response], handle);
      else if (line.ignored === 0 && line.waiting.length < most) line.waiting.push([request, response]);
      else {
        // One more waits, to be refused.
        if (line.ignored === 0) line.waiting.push([request, response]);
        line.ignored += 1;
        ignoredInAll += 1;
        if (line.ignored > mostIgnored.here || ignoredInAll > mostIgnored.inAll) connection.socket.destroy();
      }
    },
    fail(connection, refuse) {
      const line = lineOf(connection);
      const newest = line.waiting.at(-1) ?? line.current;
      if (newest === null) return refuse();
      const [request, response] = newest;
      if (request.complete) line.last = refuse;
      else if (newest !== line.current) {
        line.waiting.pop();
        line.last = refuse;
      } else if (response.headersSent) connection.socket.destroy();
      else {
        connection.leave();
        refuse();
      }
    },
  };
}
