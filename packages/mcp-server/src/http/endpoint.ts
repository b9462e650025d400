import type { IncomingMessage, ServerResponse } from 'node:http';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { createProgress, listen } from '@call-attribution/core/listen';
import { isLoopback } from '@call-attribution/core/settings';
import { durationMillis } from '@call-attribution/core/time';
import { getRequestListener } from '@hono/node-server';
import { rpcCodes } from '../protocol/messages.ts';
import type { ProtocolServer } from '../protocol/sdk-server.ts';
import { unknownHost } from './access.ts';
import { createEndpoint, type Endpoint, refuse } from './handler.ts';
import {
  accessOf,
  type HttpAuth,
  type HttpEndpoint,
  type HttpMount,
  type HttpOptions,
  type MountOptions,
} from './options.ts';

/** How long a client may take to send its headers and its request, and how often Node.js looks. */
const slowest = { headersTimeout: 10_000, requestTimeout: 15_000, connectionsCheckingInterval: 2_000 };

const isProtected = (auth: HttpAuth | undefined): boolean =>
  auth?.token !== undefined || auth?.verify !== undefined || auth?.metadata !== undefined;

/** Serves over Streamable HTTP. */
export async function listenHttp(server: ProtocolServer, options: HttpOptions = {}): Promise<HttpEndpoint> {
  const { port = 3000, host = '127.0.0.1', path = '/mcp', auth } = options;
  const drainTimeout = durationMillis(options.drainTimeout ?? '5s', 'drainTimeout');
  const settings = { ...accessOf(options), auth };
  const named = settings.allowedHosts.find((name) => !isLoopback(name));
  if ((!isLoopback(host) || named !== undefined) && !isProtected(settings.auth)) {
    throw new ConfigurationError(
      'invalid_option',
      `Refusing to ${isLoopback(host) ? `answer for ${named}` : `listen on ${host}`} without a token: other machines could read call records. ` +
        'Set a token (CALLS_MCP_TOKEN or auth.token), or listen on 127.0.0.1 for this machine only.',
    );
  }
  const endpoint = createEndpoint(server, path, settings);
  const handler = nodeHandler(endpoint);
  const progress = createProgress();
  const listener = await listen(
    (request, response) => {
      // Streams that wait for news stay open by design, so they are ended instead of waited for.
      if (request.method === 'POST' && request.headers['mcp-method'] !== 'subscriptions/listen')
        response.once(
          'close',
          progress.begin(() => response.destroy()),
        );
      handler(request, response);
    },
    { ...slowest, host, port },
  );
  const stop = () => listener.close(progress.drain(drainTimeout).then(() => endpoint.close()));
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= stop());
  return { url: `${listener.url}${path}`, close, [Symbol.asyncDispose]: close };
}

/** Makes the handlers of an endpoint for another server. */
export function mount(server: ProtocolServer, options: MountOptions): HttpMount {
  const { auth } = options;
  if (auth !== false && !isProtected(auth)) {
    throw new ConfigurationError(
      'invalid_option',
      'A mounted endpoint needs auth: pass { token }, { verify } or { metadata }, or false when your application checks who sends a request. ' +
        'Otherwise everybody who reaches your server could read call records.',
    );
  }
  const open = createEndpoint(server, null, {
    ...accessOf(options),
    auth: auth === false ? undefined : auth,
  });
  let closed: Promise<void> | undefined;
  const endpoint: Endpoint = {
    fetch: async (request, body) =>
      closed === undefined
        ? open.fetch(request, body)
        : refuse(503, rpcCodes.internalError, 'This endpoint has been closed.'),
    close: () => (closed ??= open.close()),
  };
  return {
    handler: nodeHandler(endpoint),
    fetch: (request) => endpoint.fetch(request),
    close: endpoint.close,
    [Symbol.asyncDispose]: endpoint.close,
  };
}

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Passes requests of Node.js on. A body that a parser of the application has read before is taken from `request.body`. */
function nodeHandler(endpoint: Endpoint): NodeHandler {
  const listener = getRequestListener(
    (request, { incoming }) => {
      if (!propertyOf(incoming, 'readableDidRead')) return endpoint.fetch(request);
      const body = propertyOf(incoming, 'body');
      if (body === undefined || body === null) return refuse(500, rpcCodes.internalError, readBefore);
      return endpoint.fetch(request, body);
    },
    {
      // A program that mounts the endpoint keeps its own Request and Response.
      overrideGlobalObjects: false,
      errorHandler: () => refuse(403, rpcCodes.invalidRequest, unknownHost),
    },
  );
  return (request, response) => void listener(request, response);
}

const readBefore =
  'The body was read before it reached the MCP endpoint. Pass it on as request.body, or mount the endpoint before the parser.';
