import type { IncomingMessage, ServerResponse } from 'node:http';
import { propertyOf } from '@call-attribution/core/errors';
import { type FetchHandler, fetchHandler } from '@call-attribution/core/mount';
import type { ClosedFor } from '../connections/connection.ts';
import { Connections } from '../connections/connections.ts';
import type { ConnectionLimits } from '../connections/limits.ts';
import type { Turns } from '../connections/turns.ts';
import type { Listener } from './pipeline.ts';

/**
 * Handles requests of a server that is not the service's own. With `next`, as Express passes it, requests for paths that the service
 * does not have are passed on; without it they get status 404.
 */
export type MountedHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/** What a mounted service needs to know. */
interface MountedOptions {
  readonly limits: ConnectionLimits & { readonly drainTimeout: number };
  readonly turns: Turns;
  readonly proxies: readonly string[];
  readonly onClosed: (reason: ClosedFor) => void;
  /** Path under which the application has mounted the service, without a slash at its end. */
  readonly prefix: string;
  /** Has the service something at this path? */
  readonly has: (path: string) => boolean;
  /** Refuses paths other than those of health when the service is closing. */
  readonly mayServe: (path: string) => boolean;
  /** Throws when the service must not be reached by others. */
  readonly check: () => void;
  readonly serve: Listener;
}

/** A service within another server. */
export interface Mounted {
  readonly handler: MountedHandler;
  readonly fetch: FetchHandler;
  /** Requests in progress. */
  readonly size: number;
  /** Waits for requests in progress, then ends the remaining ones. */
  close(): Promise<void>;
}

/** Mounts a service. A connection is counted for as long as one of its requests is handled. */
export function createMounted(options: MountedOptions): Mounted {
  const { limits, prefix, has, mayServe, serve } = options;
  let connections: Connections | null = null;
  let onIdle: (() => void) | null = null;

  const handler: MountedHandler = (request, response, next) => {
    options.check();
    const sent = request.url ?? '/';
    const url = withoutPrefix(sent, prefix);
    const path = pathOf(url);
    if (next !== undefined && !has(path)) return next();
    if (!mayServe(path)) return refuse(response);
    const location = withSlash(request, path);
    if (location !== null && has('/')) {
      response.writeHead(308, { location, 'content-length': 0 }).end();
      return;
    }
    connections ??= new Connections(limits, options.proxies, options.onClosed, () =>
      options.turns.onMemory(),
    );
    const all = connections;
    const connection = all.open(request.socket, false, request.socket.remoteAddress ?? '');
    if (connection === null) return;
    request.url = url;
    all.enter(connection, 'busy');
    response.once('close', () => {
      if (!response.writableFinished) connection.leave();
      all.release(connection);
      if (all.size === 0) onIdle?.();
    });
    serve(request, response, connection);
  };

  return {
    handler,
    fetch: fetchHandler(handler),
    get size() {
      return connections?.size ?? 0;
    },
    async close() {
      if (connections === null) return;
      const all = connections;
      if (all.size > 0) {
        const timer = setTimeout(() => all.closeAll(), limits.drainTimeout);
        await new Promise<void>((done) => {
          onIdle = done;
        });
        clearTimeout(timer);
      }
      all.close();
    },
  };
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';

/** The URL below the prefix. Some applications, such as those with Express, have cut the prefix off already. */
function withoutPrefix(url: string, prefix: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url;
  const rest = url.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}

/** Where the page is when a request for it has no slash at the end, which its links need; null when all is well. */
function withSlash(request: IncomingMessage, path: string): string | null {
  const before = propertyOf(request, 'originalUrl');
  const originalUrl = typeof before === 'string' ? before : (request.url ?? '/');
  const original = pathOf(originalUrl);
  if (path !== '/' || original.endsWith('/') || !['GET', 'HEAD'].includes(request.method ?? '')) return null;
  const last = original.slice(original.lastIndexOf('/') + 1);
  // To a browser a backslash is a slash, and a colon may end a scheme: this link must stay on this server.
  return /^[\w.~%-]+$/.test(last) ? `${last}/${originalUrl.slice(original.length)}` : null;
}

function refuse(response: ServerResponse): void {
  const body = JSON.stringify({
    title: 'Service Unavailable',
    status: 503,
    code: 'closing',
    detail: 'The service is closing.',
  });
  response.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '1' }).end(body);
}
