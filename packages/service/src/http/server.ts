import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { portOf } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import { acceptConnections } from '../connections/accept.ts';
import type { ClosedFor } from '../connections/connection.ts';
import { Connections } from '../connections/connections.ts';
import type { Turns } from '../connections/turns.ts';
import { serviceDefaults } from '../defaults.ts';
import { type Listener, Pipelines } from './pipeline.ts';
import { reasonOf, refuseUnreadable, tooManyAhead, type Unreadable } from './unreadable.ts';

const { limits: usual } = serviceDefaults;

/** The limits of time, number and size. */
export const limitsOptions = defineOptions({
  /** Longest URL, in bytes. Default 8,192. */
  urlBytes: option.number(0).default(usual.urlBytes),
  /** Longest request head, including the URL, in bytes. Default 32,768. */
  headerBytes: option.number(0).default(usual.headerBytes),
  /** Most connections at a time. Default 2,000. */
  connections: option.number(0).default(usual.connections),
  /** Most connections at a time from one IPv4 address or IPv6 /64 network that is not one of `proxies`. Default 256. */
  connectionsPerAddress: option.number(0).default(usual.connectionsPerAddress),
  /** Most TLS handshakes at a time. Default 250. */
  handshakes: option.number(0).default(usual.handshakes),
  /** Time for a TLS handshake, from the first packet of the connection. Default `10s`. */
  handshakeTimeout: option.duration().default(usual.handshakeTimeout),
  /** Requests that a client may send ahead on one connection, before the response to the first. Default 16. */
  pipelined: option.number(0).default(usual.pipelined),
  /** Requests that read from the store at a time; others wait for their turn. Default 8. */
  atWork: option.number(0).default(usual.atWork),
  /** Time for a request to arrive. Default `10s`. */
  headTimeout: option.duration().default(usual.headTimeout),
  /** Time for a client to take the next 64 KiB of a response, or all of one of up to 256 KiB. Default `30s`. */
  sendTimeout: option.duration().default(usual.sendTimeout),
  /** Bytes of responses that wait in memory for their clients, over all connections. Default 67,108,864. */
  unsentBytes: option.number(0).default(usual.unsentBytes),
  /** Time without a byte after which a connection is closed. Default `1m`. */
  idleTimeout: option.duration().default(usual.idleTimeout),
  /** Time for responses in progress to finish when the service is closed. Default `10s`. */
  drainTimeout: option.duration().default(usual.drainTimeout),
});

/** Limits of time, number and size that differ from the defaults. */
export interface LimitOptions extends OptionsOf<typeof limitsOptions> {}
/** Limits of time, number and size of one server. */
export interface ServiceLimits extends ReadOf<typeof limitsOptions> {}

interface ListenSettings {
  readonly port: number;
  readonly host: string;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly limits: ServiceLimits;
  readonly proxies: readonly string[];
  readonly turns: Turns;
  readonly onClosed: (reason: ClosedFor) => void;
}

/** A server that listens. */
export interface OpenServer {
  /** Its URL, as reached from this machine. */
  readonly url: string;
  /** How many connections it has. */
  readonly connections: () => number;
  /** Stops listening, waits for responses in progress, then closes the remaining connections. */
  close(drainTimeout: number): Promise<void>;
}

/** Starts a server. The error for a port that is taken or not allowed says what to do. */
export async function openServer(handle: Listener, place: ListenSettings): Promise<OpenServer> {
  const { port, host, tls, limits, proxies, turns, onClosed } = place;
  const settings = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headTimeout,
    requestTimeout: limits.headTimeout,
    connectionsCheckingInterval: Math.min(limits.headTimeout, 5_000),
    keepAliveTimeout: Math.min(limits.idleTimeout, 65_000),
    // Node would refuse it with an empty body; the front says what is missing.
    requireHostHeader: false,
  };
  const connections = new Connections(limits, proxies, onClosed, () => turns.onMemory());
  const pipelines = new Pipelines(limits.pipelined, connections, handle, tooManyAhead(limits.pipelined));
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connectionOf(request.socket);
    if (connection === undefined) request.socket.destroy();
    else pipelines.add(request, response, connection);
  };
  const server =
    tls === null ? createServer(settings, listener) : createTlsServer({ ...settings, ...tls }, listener);
  const connectionOf = acceptConnections(server, connections, turns, tls !== null);
  server.setTimeout(limits.idleTimeout);
  const refuse = (stream: Socket, reason: Unreadable): void => {
    const connection = connectionOf(stream);
    // Nothing can be written before the end of a handshake.
    if (connection === undefined || !stream.writable) stream.destroy();
    else pipelines.fail(connection, () => refuseUnreadable(stream, reason));
  };
  server.on('clientError', (error: NodeJS.ErrnoException, stream: Socket) => {
    if (error.code === 'ECONNRESET') stream.destroy();
    else refuse(stream, reasonOf(error));
  });
  server.on('connect', (_request: IncomingMessage, stream: Socket) => refuse(stream, 'connect'));
  server.on('checkExpectation', listener);
  await new Promise<void>((done, fail) => {
    server.once('error', (cause: NodeJS.ErrnoException) => fail(cannotListen(cause, host, port)));
    // The system queues connections that come faster than they are accepted; it drops those beyond this number.
    server.listen({ port, host, backlog: limits.connections }, done);
  });
  return {
    url: urlOf(server, host, tls !== null),
    connections: () => connections.size,
    async close(drainTimeout) {
      const closed = new Promise<void>((done) => server.close(() => done()));
      connections.closeIdle();
      const timer = setTimeout(() => connections.closeAll(), drainTimeout);
      await closed;
      clearTimeout(timer);
      connections.close();
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
