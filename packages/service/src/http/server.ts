import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { portOf } from '@call-attribution/core/errors';
import type { ServiceLimits } from '../defaults.ts';
import type { NodeHandler } from './node.ts';

interface ListenSettings {
  readonly port: number;
  readonly host: string;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly limits: ServiceLimits;
  readonly onDrop: () => void;
}

/** A server that listens. */
export interface OpenServer {
  /** Its URL, as reached from this machine. */
  readonly url: string;
  /** How many connections it has. */
  readonly connections: () => Promise<number>;
  /** Stops listening and closes the connections on which nothing is in progress, and the others once `drained` resolves. */
  close(drained: Promise<void>): Promise<void>;
}

/** Starts a server. The error for a port that is taken or not allowed says what to do. */
export async function openServer(handle: NodeHandler, place: ListenSettings): Promise<OpenServer> {
  const { port, host, tls, limits, onDrop } = place;
  const settings = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headTimeout,
    requestTimeout: limits.headTimeout,
    connectionsCheckingInterval: Math.min(limits.headTimeout, 5_000),
    keepAliveTimeout: Math.min(limits.idleTimeout, 65_000),
  };
  const secure = { ...settings, ...tls, handshakeTimeout: limits.headTimeout };
  const server = tls === null ? createServer(settings, handle) : createTlsServer(secure, handle);
  server.setTimeout(limits.idleTimeout);
  server.maxConnections = limits.connections;
  server.on('drop', onDrop);
  // Node.js does not close connections by itself that have sent nothing yet, or are in a TLS handshake.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done, fail) => {
    server.once('error', (cause: NodeJS.ErrnoException) => fail(cannotListen(cause, host, port)));
    // The system queues connections that come faster than they are accepted; it drops those beyond this number.
    server.listen({ port, host, backlog: limits.connections }, done);
  });
  return {
    url: urlOf(server, host, tls !== null),
    connections: promisify(server.getConnections.bind(server)),
    async close(drained) {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeIdleConnections();
      await drained;
      for (const socket of sockets) socket.destroySoon();
      await closed;
    },
  };
}

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there. Stop it, or use another port, or 0 for a free one.',
    EACCES: 'this user may not use the port. Use one above 1023.',
    EADDRNOTAVAIL: 'this machine does not have that address. Use 127.0.0.1, or 0.0.0.0 for all.',
  };
  const reason = reasons[cause.code ?? ''] ?? `${cause.code ?? cause.message}.`;
  return new Error(`The service cannot listen on ${host} port ${port}: ${reason}`, { cause });
}

/** The URL under which a server is reached from this machine. */
function urlOf(server: Server, host: string, secure: boolean): string {
  const name =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `${secure ? 'https' : 'http'}://${name}:${portOf(server)}`;
}
