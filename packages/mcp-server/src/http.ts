import type { IncomingMessage, ServerResponse } from 'node:http';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { createProgress, listen } from '@call-attribution/core/listen';
import { isLoopback } from '@call-attribution/core/settings';
import { type Duration, durationMillis } from '@call-attribution/core/time';
import { statusReply } from '@call-attribution/node-stream/status';
import { getRequestListener } from '@hono/node-server';
import {
  createMcpHandler,
  isInitializeRequest,
  isJsonContentType,
  type McpServerFactory,
  ProtocolErrorCode,
  readRequestBody,
  validateHostHeader,
} from '@modelcontextprotocol/server';
import { createGate, type HttpAuth, metadataResponse } from './auth.ts';
import { errorResponse, type Refusal, readMessage } from './messages.ts';
import type { CallsMcpServer } from './server.ts';

/** How a mounted endpoint decides who may use it. */
export interface MountOptions {
  /** Host names to accept in the `Host` header, besides those of loopback. They need `auth`. */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Origins to accept in the `Origin` header, besides those of loopback with the endpoint's own
   * port; their pages may read responses (CORS).
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * How clients prove who they are. `false`: the application checks that before it passes a request
   * on.
   */
  readonly auth?: HttpAuth | false | undefined;
}

/** Where and how `serveHttp` listens. */
export interface HttpOptions extends Omit<MountOptions, 'auth'> {
  /** Default 3000; 0 picks a free one. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`. An address that other machines can reach needs `auth`. */
  readonly host?: string | undefined;
  /** How clients prove who they are. Default: anyone on this machine may connect. */
  readonly auth?: HttpAuth | undefined;
  /** Time for running calls to finish when the server is closed. Default `5s`. */
  readonly drainTimeout?: Duration | undefined;
}

/** A running HTTP endpoint. `await using` closes it. */
export interface HttpEndpoint extends AsyncDisposable {
  /** The URL for clients. */
  readonly url: string;
  /** Accepts no new requests, waits for running ones (up to `drainTimeout`), then closes. */
  close(): Promise<void>;
}

/** An endpoint in an application that listens itself. `await using` closes it. */
export interface HttpMount extends AsyncDisposable {
  /**
   * For Node.js, Express and Fastify. A body that a parser has read before is taken from
   * `request.body`.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** For Hono, Deno and whatever else passes a `Request`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Refuses new requests and ends the open streams. */
  close(): Promise<void>;
}

/** How long a client may take to send its headers and its request, and how often Node.js looks. */
const slowest = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
};

/**
 * Serves over Streamable HTTP, by default on `http://127.0.0.1:3000/mcp`. Rejects when the port is
 * taken, and when other machines could connect without a token.
 *
 * @example
 * const endpoint = await serveHttp(createServer(client), { port: 0, auth: { token:
 * process.env.CALLS_MCP_TOKEN } }); console.log(endpoint.url);
 */
export async function serveHttp(
  server: Pick<CallsMcpServer, 'connect' | 'status' | 'log'>,
  options: HttpOptions = {},
): Promise<HttpEndpoint> {
  const { port = 3000, host = '127.0.0.1', auth } = options;
  const drainTimeout = durationMillis(options.drainTimeout ?? '5s', 'drainTimeout');
  const named = options.allowedHosts?.find((name) => !isLoopback(name));
  if ((!isLoopback(host) || named !== undefined) && !isProtected(auth)) {
    throw new ConfigurationError(
      'invalid_option',
      `Refusing to ${isLoopback(host) ? `answer for ${named}` : `listen on ${host}`} without a token: other machines could read call records. ` +
        'Set a token (CALLS_MCP_TOKEN or auth.token), or listen on 127.0.0.1 for this machine only.',
    );
  }

  const endpoint = createEndpoint(server, '/mcp', options);
  const progress = createProgress();
  const listener = await listen(
    (request, response) => {
      // Streams that wait for news stay open by design, so they are ended instead of waited for.
      if (request.method === 'POST' && request.headers['mcp-method'] !== 'subscriptions/listen')
        response.once(
          'close',
          progress.begin(() => response.destroy()),
        );
      endpoint.handler(request, response);
    },
    { ...slowest, host, port },
  );
  const stop = () => listener.close(progress.drain(drainTimeout).then(() => endpoint.close()));
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= stop());
  return { url: `${listener.url}/mcp`, close, [Symbol.asyncDispose]: close };
}

/**
 * The same endpoint inside an application that listens itself: `handler` for Node.js, Express and
 * Fastify, `fetch` for Hono and other places that pass a `Request`. The application chooses the
 * path.
 *
 * @example
 * const mcp = mountHttp(createServer(client), { auth: { token: process.env.CALLS_MCP_TOKEN },
 * allowedHosts: ['calls.example'] }); app.all('/mcp', mcp.handler); // Express; in Hono:
 * app.all('/mcp', (c) => mcp.fetch(c.req.raw))
 */
export function mountHttp(
  server: Pick<CallsMcpServer, 'connect' | 'status' | 'log'>,
  options: MountOptions,
): HttpMount {
  if (options.auth !== false && !isProtected(options.auth)) {
    throw new ConfigurationError(
      'invalid_option',
      'A mounted endpoint needs auth: pass { token }, { verify } or { metadata }, or false when your application checks who sends a request. ' +
        'Otherwise everybody who reaches your server could read call records.',
    );
  }
  return createEndpoint(server, null, options);
}

const isProtected = (auth: HttpAuth | undefined): boolean =>
  auth?.token !== undefined || auth?.verify !== undefined || auth?.metadata !== undefined;

const unknownHost =
  'Forbidden: unknown Host header. If the name is yours, add it to allowedHosts (--allow-host).';

/**
 * Makes an endpoint at `path`. Null: the application has chosen it, so every request is for the
 * endpoint except those for the metadata.
 */
function createEndpoint(
  server: Pick<CallsMcpServer, 'connect' | 'status' | 'log'>,
  path: string | null,
  options: MountOptions,
): HttpMount {
  const { allowedOrigins = [] } = options;
  const allowedHosts = (options.allowedHosts ?? []).map((name) => name.toLowerCase());
  const auth = options.auth === false ? undefined : options.auth;
  const report = (error: unknown): void =>
    server.log(`internal error: ${error instanceof Error ? error.stack : String(error)}`);
  const gate = createGate(auth, report);
  const mcp = createMcpHandler(server.connect as McpServerFactory);

  async function route(request: Request, parsed: unknown): Promise<Response> {
    // An unknown name gives away a web page that points its own name at this machine (DNS
    // rebinding).
    const host = validateHostHeader(
      request.headers.get('host') ?? new URL(request.url).host,
      [],
    ).hostname;
    if (host === undefined || !(isLoopback(host) || allowedHosts.includes(host)))
      return refuse(403, unknownHost);
    const origin = request.headers.get('origin');
    const { pathname, port } = new URL(request.url);
    if (origin !== null && !allowedOrigins.includes(origin) && !isOwnOrigin(origin, port))
      return refuse(403, unknownOrigin);
    if (pathname !== path) {
      const metadata = auth?.metadata && metadataResponse(request, auth.metadata);
      if (metadata) return metadata;
      const status = path === null ? null : await statusResponse(request, pathname);
      if (status) return status;
      if (path !== null)
        return Response.json({ error: `Not found. The endpoint is ${path}.` }, { status: 404 });
    }

    // A browser asks whether a page may send a request, and sends no token with that.
    if (
      request.method === 'OPTIONS' &&
      origin !== null &&
      request.headers.has('access-control-request-method')
    )
      return new Response(null, { status: 204 });

    const refused = await gate?.(request);
    if (refused) return refused;
    if (request.method !== 'POST')
      return refuse(405, 'Method Not Allowed: use POST.', { headers: { allow: 'POST' } });
    const body = await readBody(request, parsed);
    if (body instanceof Response) return body;

    // A client may have left while its body was read.
    if (request.signal.aborted) return new Response(null, { status: 499 });
    return mcp.fetch(request, { parsedBody: body.value });
  }

  /**
   * Health is for everybody who may reach the endpoint; metrics need its token. Null for other
   * paths.
   */
  async function statusResponse(request: Request, pathname: string): Promise<Response | null> {
    if (request.method !== 'GET') return null;
    const refused = pathname === '/metrics' ? await gate?.(request) : null;
    if (refused) return refused;
    const reply = await statusReply(pathname, server.status);
    return (
      reply && new Response(reply.body, { status: reply.status, headers: { ...reply.headers } })
    );
  }

  let closed: Promise<void> | undefined;
  const close = () => (closed ??= mcp.close());

  const fetch = async (request: Request, parsed?: unknown): Promise<Response> => {
    if (closed !== undefined) return refuse(503, 'This endpoint has been closed.', internal);
    try {
      return withOrigin(await route(request, parsed), request, allowedOrigins);
    } catch (error) {
      report(error);
      return refuse(500, 'Internal error', internal);
    }
  };

  const listener = getRequestListener(
    (request, { incoming }) => {
      if (!propertyOf(incoming, 'readableDidRead')) return fetch(request);
      const body = propertyOf(incoming, 'body');
      return body === undefined || body === null
        ? refuse(500, readBefore, internal)
        : fetch(request, body);
    },
    {
      // A program that mounts the endpoint keeps its own Request and Response.
      overrideGlobalObjects: false,
      errorHandler: () => refuse(403, unknownHost),
    },
  );
  return {
    handler: (request, response) => void listener(request, response),
    fetch: (request) => fetch(request),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const unknownOrigin =
  'Forbidden: unknown Origin header. If the origin is yours, add it to allowedOrigins (--allow-origin).';

function isOwnOrigin(origin: string, port: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  return url?.protocol === 'http:' && url.port === port && isLoopback(url.hostname);
}

const internal = { code: ProtocolErrorCode.InternalError };

const readBefore =
  'The body was read before it reached the MCP endpoint. Pass it on as request.body, or mount the endpoint before the parser.';

function refuse(
  status: number,
  message: string,
  {
    id = null,
    code = ProtocolErrorCode.InvalidRequest,
    headers = {},
  }: Partial<Refusal> & ResponseInit = {},
): Response {
  return Response.json(errorResponse({ id, code, message }), { status, headers });
}

/** Most bytes of a request body. */
const maxBytes = 1024 * 1024;

/**
 * Reads messages that the SDK can answer: one, or a batch. `parsed`: what a parser of the
 * application has read before.
 */
async function readBody(
  request: Request,
  parsed: unknown,
): Promise<{ readonly value: unknown } | Response> {
  if (!isJsonContentType(request.headers.get('content-type')))
    return refuse(415, 'Unsupported Media Type: Content-Type must be application/json.');
  let value = parsed;
  if (typeof parsed !== 'object') {
    const body =
      typeof parsed === 'string'
        ? { tooLarge: Buffer.byteLength(parsed) > maxBytes, text: parsed }
        : await readRequestBody(request, maxBytes).catch(() => ({ tooLarge: false, text: '' }));
    if (body.tooLarge)
      return refuse(413, `Payload Too Large: the body may have at most ${maxBytes} bytes.`);
    try {
      value = JSON.parse(String(propertyOf(body, 'text')));
    } catch {
      return refuse(400, 'Parse error: the body is not valid JSON.', {
        code: ProtocolErrorCode.ParseError,
      });
    }
  }

  const reads = (Array.isArray(value) ? value : [value]).map(readMessage);
  const messages = reads.filter((read) => 'message' in read).map(({ message }) => message);
  const refused = reads.find((read) => 'refusal' in read);
  if (refused) return refuse(400, refused.refusal.message, refused.refusal);
  if (messages.length === 0 || (Array.isArray(value) && messages.some(isInitializeRequest)))
    return refuse(400, 'Invalid Request: a batch has messages, and no initialize.');
  return { value: Array.isArray(value) ? messages : messages[0] };
}

/** Lets pages of the allowed origins read a response. */
function withOrigin(
  response: Response,
  { headers }: Request,
  allowed: readonly string[],
): Response {
  const origin = headers.get('origin');
  if (origin === null || !allowed.includes(origin)) return response;
  const changed = new Response(response.body, response);
  const more: Record<string, string> = {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': headers.get('access-control-request-headers') ?? '',
    'access-control-expose-headers': 'mcp-protocol-version, www-authenticate',
    vary: 'origin',
  };
  for (const [name, value] of Object.entries(more)) changed.headers.set(name, value);
  return changed;
}
