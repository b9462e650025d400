import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { propertyOf } from '@call-attribution/core/errors';
import type { Progress } from '@call-attribution/core/listen';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Follow } from './exchange.ts';
import type { Intercept, NodeHandler, ReplyChanges } from './public-types.ts';
import { problemOf, Refusal } from './refusal.ts';

/** Passes requests of Node.js on to the service, one by one. */
export function nodeHandler(
  follow: Follow,
  intercept: Intercept | null,
  progress: Progress,
): NodeHandler {
  const listener = getRequestListener(
    async (request, env) => {
      const { outgoing } = env;
      const incoming = env.incoming as IncomingMessage;

      // HTTP/2 is for proxies.
      if ('stream' in outgoing) return refuseUrl();
      const next = (changes?: ReplyChanges) => follow(request, { incoming, outgoing }, changes);
      if (intercept === null) return next();
      return (await intercept(incoming, outgoing, next)) ?? RESPONSE_ALREADY_SENT;
    },
    // A program that mounts the service keeps its own Request and Response.
    { overrideGlobalObjects: false, hostname: 'localhost', errorHandler: refuseUrl },
  );
  return oneByOne((request, response) => {
    const location = withSlash(request);
    if (location !== null)
      return void response.writeHead(308, { location, 'content-length': 0 }).end();
    response.once(
      'close',
      progress.begin(() => response.destroy()),
    );
    void listener(request, response);
  });
}

/**
 * Where the page is when a request for it has no slash at the end, which its links need; null when
 * all is well. Express keeps what it has cut off a URL in `originalUrl`.
 */
function withSlash(request: IncomingMessage): string | null {
  const original = propertyOf(request, 'originalUrl');
  if (typeof original !== 'string' || !/^\/(?:\?|$)/.test(request.url ?? '')) return null;
  const [path = '', query = ''] = original.split(/(?=\?)/);
  const last = path.slice(path.lastIndexOf('/') + 1);

  // To a browser a backslash is a slash, and a colon may end a scheme: this link must stay on this
  // server.
  return /^[\w.~%-]+$/.test(last) ? `${last}/${query}` : null;
}

const refuseUrl = (): Response =>
  problemOf(
    new Refusal('malformed_url', 'The URL or the header Host of the request cannot be read.'),
  );

/** A connection on which more requests than this wait is closed. */
const mostAhead = 1_000;

/**
 * Node.js starts all requests that a client has sent ahead on a connection. Here each one starts
 * when the response before it has been sent, and none when the client has left.
 */
function oneByOne(handle: NodeHandler): NodeHandler {
  const lines = new WeakMap<Socket, { newest: ServerResponse; waiting: number }>();
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket);

    // Node.js has refused what came before it by itself, and closes the connection: this response
    // would never end.
    if (line === undefined && response.socket === null) return;
    if (line === undefined || line.newest.closed) {
      lines.set(socket, { newest: response, waiting: 0 });
      handle(request, response);
      return;
    }

    line.newest.once('close', () => {
      line.waiting -= 1;
      if (!socket.destroyed) handle(request, response);
    });
    line.newest = response;
    line.waiting += 1;
    if (line.waiting > mostAhead) socket.destroy();
  };
}
