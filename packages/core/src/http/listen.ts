// Servers of HTTP that end in order: of the service, of the endpoint for assistants, and of
// commands that show their status.
import {
  createServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { portOf } from '../errors/checked-reads.ts';
import { ConfigurationError } from '../errors/classes.ts';

/** Where and how to listen. What is not here is an option of `createServer` of Node.js. */
export interface ListenPlace extends ServerOptions {
  /** The address to listen on. */
  readonly host: string;
  /** The port; 0 for a free one. */
  readonly port: number;
  /** Certificate and private key in PEM form. Default plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | null;
  /** Most connections at a time. Default no limit. */
  readonly connections?: number;
  /** Milliseconds without a byte after which a connection is closed. Default never. */
  readonly idleTimeout?: number;
  /** Called for each connection beyond the limit. */
  readonly onDrop?: () => void;
}

/** A server that listens. */
export interface HttpListener {
  /** Its URL, as reached from this machine. */
  readonly url: string;
  /** How many connections it has. */
  readonly connections: () => Promise<number>;
  /**
   * Stops listening and closes the connections on which nothing is in progress, and the others once
   * `ended` resolves.
   */
  close(ended?: Promise<void>): Promise<void>;
}

/**
 * Starts a server. The error for a port that is taken or not allowed says what to do.
 *
 * @example
 * const progress = createProgress();
 * const server = await listen(handle, { host: '127.0.0.1', port: 0 });
 * await server.close(progress.drain(5_000));
 */
export async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { host, port, tls = null, connections, idleTimeout = 0, onDrop, ...settings }: ListenPlace,
): Promise<HttpListener> {
  const secure = { ...settings, ...tls, handshakeTimeout: settings.headersTimeout };
  const server = tls === null ? createServer(settings, handle) : createTlsServer(secure, handle);
  server.setTimeout(idleTimeout);
  if (connections !== undefined) server.maxConnections = connections;
  if (onDrop !== undefined) server.on('drop', onDrop);

  // Node.js does not close connections by itself that have sent nothing yet, or are in a TLS
  // handshake.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done, fail) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = reasons[cause.code ?? ''] ?? `${cause.code ?? cause.message}.`;
      const message = `The server cannot listen on ${host} port ${port}: ${reason}`;
      fail(new ConfigurationError('invalid_option', message, { cause }));
    });
    // The system queues connections that come faster than they are accepted; it drops those beyond
    // this number.
    server.listen({ port, host, backlog: connections }, done);
  });
  const name = hereNames[host] ?? (host.includes(':') ? `[${host}]` : host);
  return {
    url: `${tls === null ? 'http' : 'https'}://${name}:${portOf(server)}`,
    connections: promisify(server.getConnections.bind(server)),
    async close(ended) {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeIdleConnections();
      await ended;
      for (const socket of sockets) socket.destroySoon();
      await closed;
    },
  };
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there. Stop it, or use another port.',
  EACCES: 'this user may not use the port. Use one above 1023.',
  EADDRNOTAVAIL: 'this machine does not have that address. Use 127.0.0.1, or 0.0.0.0 for all.',
};

/** What reaches a server on all addresses from this machine. */
const hereNames: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** The responses in progress. */
export interface Progress {
  /** Notes a response, which `cut` ends early. Returns what is called when it has ended. */
  begin(cut: () => void): () => void;
  /**
   * Waits until all have ended, at most for `ms` and a moment: then it cuts those that have not.
   */
  drain(ms: number): Promise<void>;
}

/** Nothing is in progress yet. */
export function createProgress(): Progress {
  const cuts = new Set<() => void>();
  let onIdle = (): void => {};
  return {
    begin(cut) {
      cuts.add(cut);
      return () => {
        if (cuts.delete(cut) && cuts.size === 0) onIdle();
      };
    },
    async drain(ms) {
      if (cuts.size === 0) return;
      const idle = new Promise<void>((done) => (onIdle = done));
      const timer = setTimeout(() => {
        for (const cut of cuts) cut();
        // A response that never gets a connection never closes.
        setTimeout(onIdle, 100);
      }, ms);
      await idle;
      clearTimeout(timer);
    },
  };
}
