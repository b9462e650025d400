import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** Limits of time and size of one server. */
export interface Limits {
  /** Longest URL, in bytes. Default 8,192. */
  readonly urlBytes: number;
  /** Longest request head, including the URL, in bytes. Default 32,768. */
  readonly headerBytes: number;
  /** Most connections at a time. Default 2,000. */
  readonly connections: number;
  /** Time for a request to arrive, in milliseconds. Default 10,000. */
  readonly headMs: number;
  /** Time without a byte after which a connection is closed, in milliseconds. Default 60,000. */
  readonly idleMs: number;
  /** Time for responses in progress to finish when the service is closed, in milliseconds. Default 10,000. */
  readonly drainMs: number;
}

interface Place {
  readonly port: number;
  readonly host: string;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly limits: Limits;
}

/** Starts a server. The error for a port that is taken or not allowed says what to do. */
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
    EADDRINUSE: 'another program listens there. Stop it, or use another port, or 0 for a free one.',
    EACCES: 'this user may not use the port. Use one above 1023.',
    EADDRNOTAVAIL: 'this machine does not have that address. Use 127.0.0.1, or 0.0.0.0 for all.',
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

/** Stops listening, waits for responses in progress, then closes the remaining connections. */
export async function stopServer(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(timer);
}

/** Responds to what Node could not read as a request: a head that is too large or too slow, or bytes that are not HTTP. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const detail = {
    400: 'This is not a readable HTTP request.',
    408: 'The request did not arrive in time.',
    431: 'The headers or the URL are too long.',
  }[status];
  const code = { 400: 'unreadable_request', 408: 'request_timeout', 431: 'headers_too_long' }[status];
  const body = JSON.stringify({ title: STATUS_CODES[status], status, code, detail });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
