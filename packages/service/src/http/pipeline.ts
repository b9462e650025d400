import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';

/** Handles one request of a connection. */
export type Listener = (request: IncomingMessage, response: ServerResponse, connection: Connection) => void;

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
export class Pipelines {
  readonly #most: number;
  readonly #connections: Connections;
  readonly #handle: Listener;
  readonly #refuse: Listener;
  readonly #lines = new WeakMap<Connection, Line>();
  #ignoredInAll = 0;

  constructor(most: number, connections: Connections, handle: Listener, refuse: Listener) {
    this.#most = most;
    this.#connections = connections;
    this.#handle = handle;
    this.#refuse = refuse;
  }

  /** Takes the next request of a connection. */
  add(request: IncomingMessage, response: ServerResponse, connection: Connection): void {
    const line = this.#lineOf(connection);
    if (connection.gone.aborted) return;
    if (line.current === null) this.#start(line, connection, [request, response], this.#handle);
    else if (line.ignored === 0 && line.waiting.length < this.#most) line.waiting.push([request, response]);
    else {
      // One more waits, to be refused.
      if (line.ignored === 0) line.waiting.push([request, response]);
      line.ignored += 1;
      this.#ignoredInAll += 1;
      if (line.ignored > mostIgnored.here || this.#ignoredInAll > mostIgnored.inAll)
        connection.socket.destroy();
    }
  }

  /**
   * Ends a connection on which something came that is not a request: `refuse` is called when the responses in progress have
   * been sent, since its bytes must not get between theirs.
   */
  fail(connection: Connection, refuse: () => void): void {
    const line = this.#lineOf(connection);
    const newest = line.waiting.at(-1) ?? line.current;
    if (newest === null) {
      refuse();
      return;
    }
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
  }

  #lineOf(connection: Connection): Line {
    let line = this.#lines.get(connection);
    if (line === undefined) {
      line = { current: null, waiting: [], ignored: 0, last: null };
      const own = line;
      connection.gone.addEventListener('abort', () => {
        own.waiting.length = 0;
        this.#ignoredInAll -= own.ignored;
      });
      this.#lines.set(connection, line);
    }
    return line;
  }

  #start(line: Line, connection: Connection, [request, response]: Pair, listener: Listener): void {
    line.current = [request, response];
    if (connection.state !== 'busy') this.#connections.enter(connection, 'busy');
    response.once('close', () => {
      line.current = null;
      const next = connection.gone.aborted ? undefined : line.waiting.shift();
      const isOver = line.ignored > 0 && line.waiting.length === 0;
      if (next !== undefined)
        return this.#start(line, connection, next, isOver ? this.#refuse : this.#handle);
      this.#connections.enter(connection, 'idle');
      line.last?.();
    });
    listener(request, response, connection);
  }
}
