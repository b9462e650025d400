import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { refuseUnreadable } from './unreadable.ts';

/** Limits of time and size of one server. */
export interface Limits {
  /** Longest URL. Default 8,192. */
  readonly urlBytes: number;
  /** Longest head, the URL included. Default 32,768. */
  readonly headerBytes: number;
  /** Connections at once. Default 2,000. */
  readonly connections: number;
  /** Time for a request to arrive, in milliseconds. Default 10,000. */
  readonly headMs: number;
  /** Time without a byte moving after which a connection is ended. Default 60,000. */
  readonly idleMs: number;
  /** Time that answers get to finish when the service is stopped. Default 10,000. */
  readonly drainMs: number;
}

interface Place {
  readonly port: number;
  readonly host: string;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly limits: Limits;
}

/** Starts a server; a port that is taken or not allowed is an error in plain words. */
export async function openServer(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  { port, host, tls, limits }: Place,
): Promise<Server> {
  const settings = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headMs,
    requestTimeout: limits.headMs,
    connectionsCheckingInterval: Math.min(limits.headMs, 5_000),
    keepAliveTimeout: Math.min(limits.idleMs, 65_000),
  };
  const server =
    tls === null ? createServer(settings, listener) : createTlsServer({ ...settings, ...tls }, listener);
  server.maxConnections = limits.connections;
  server.setTimeout(limits.idleMs);
  server.on('clientError', refuseUnreadable);
  await new Promise<void>((done, fail) => {
    server.once('error', (cause: NodeJS.ErrnoException) => fail(cannotListen(cause, host, port)));
    server.listen(port, host, done);
  });
  return server;
}

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there. Stop it, give another port, or 0 for a free one.',
    EACCES: 'this user may not use the port. Give one above 1023.',
    EADDRNOTAVAIL: 'this machine has no such address. Give 127.0.0.1, or 0.0.0.0 for all.',
  };
  const reason = reasons[cause.code ?? ''] ?? `${cause.code ?? cause.message}.`;
  return new Error(`The service cannot listen on ${host} port ${port}: ${reason}`, { cause });
}

/** The URL under which a server is reached from this machine. */
export function urlOf(server: Server, host: string, secure: boolean): string {
  const { port } = server.address() as AddressInfo;
  const name =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `${secure ? 'https' : 'http'}://${name}:${port}`;
}

/** Stops listening, waits for the answers under way, then ends what is left. */
export async function stopServer(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(timer);
}
