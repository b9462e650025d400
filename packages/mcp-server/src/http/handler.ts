import { propertyOf } from '@call-attribution/core/errors';
import { statusReply } from '@call-attribution/node-stream/status';
import {
  createMcpHandler,
  isInitializeRequest,
  isJsonContentType,
  isLegacyRequest,
  readRequestBody,
} from '@modelcontextprotocol/server';
import { errorResponse, idOf, isObject, messageOf, type RequestId, rpcCodes } from '../protocol/messages.ts';
import type { ProtocolServer } from '../protocol/sdk-server.ts';
import { createGate, type Gate, isMetadataPath, refusalOf, resourceMetadata } from './access.ts';
import { answerLegacy } from './legacy.ts';
import type { EndpointSettings } from './options.ts';

/** An endpoint, whoever listens. */
export interface Endpoint {
  /** Handles one request. Every failure is a response. `body`: what a parser of the application has read before. */
  fetch(request: Request, body?: unknown): Promise<Response>;
  /** Ends the open streams. */
  close(): Promise<void>;
}

/**
 * Makes an endpoint at `path`. Null: a host application has chosen the path, so every request is for the endpoint except those for
 * the metadata.
 */
export function createEndpoint(
  server: ProtocolServer,
  path: string | null,
  settings: EndpointSettings,
): Endpoint {
  const report = (error: unknown): void => server.definition.onInternalError?.(error);
  const { fetch, close } = new Routes(server, path, settings, createGate(settings.auth, report));
  return {
    async fetch(request, body) {
      try {
        return withOrigin(await fetch(request, body), request, settings.allowedOrigins);
      } catch (error) {
        report(error);
        return refuse(500, rpcCodes.internalError, 'Internal error');
      }
    },
    close,
  };
}

/** A refusal of a request. */
export function refuse(
  status: number,
  code: number,
  message: string,
  { id = null, headers = {} }: { id?: RequestId | null; headers?: Record<string, string> } = {},
): Response {
  return Response.json(errorResponse(id, { code, message }), { status, headers });
}

class Routes {
  readonly #server: ProtocolServer;
  readonly #path: string | null;
  readonly #settings: EndpointSettings;
  readonly #gate: Gate;
  readonly #modern: ReturnType<typeof createMcpHandler>;

  constructor(server: ProtocolServer, path: string | null, settings: EndpointSettings, gate: Gate) {
    this.#server = server;
    this.#path = path;
    this.#settings = settings;
    this.#gate = gate;
    this.#modern = createMcpHandler(server.factory, { legacy: 'reject' });
  }

  close = (): Promise<void> => this.#modern.close();

  fetch = async (request: Request, body: unknown): Promise<Response> => {
    const { allowedHosts, allowedOrigins, auth } = this.#settings;
    const refusal = refusalOf(request, allowedHosts, allowedOrigins);
    if (refusal !== undefined) return refuse(403, rpcCodes.invalidRequest, refusal);
    const { pathname } = new URL(request.url);
    const path = this.#path;
    if (pathname !== path) {
      if (auth?.metadata && request.method === 'GET' && isMetadataPath(pathname, auth.metadata))
        return Response.json(resourceMetadata(auth.metadata), {
          headers: { 'access-control-allow-origin': '*' },
        });
      const status = path === null ? null : await this.#status(request, pathname);
      if (status !== null) return status;
      if (path !== null)
        return Response.json({ error: `Not found. The endpoint is ${path}.` }, { status: 404 });
    }
    if (isPreflight(request)) return new Response(null, { status: 204 });
    return (await this.#gate?.(request)) ?? this.#serve(request, body);
  };

  async #serve(request: Request, parsed: unknown): Promise<Response> {
    if (request.method !== 'POST')
      return refuse(405, rpcCodes.invalidRequest, 'Method Not Allowed: use POST.', {
        headers: { allow: 'POST' },
      });
    const body = await readBody(request, parsed, this.#settings.maxBodyBytes);
    if (body instanceof Response) return body;
    if (!isUsable(body.value)) {
      const text = 'Invalid Request: expected one JSON-RPC 2.0 message, or a batch without initialize.';
      return refuse(400, rpcCodes.invalidRequest, text, { id: idOf(body.value) });
    }
    if (await isLegacyRequest(request, body.value))
      return answerLegacy(this.#server.factory, request, body.value);
    return this.#modern.fetch(request, { parsedBody: body.value });
  }

  /** Health is for everybody who may reach the endpoint; metrics need its token. Null for other paths. */
  async #status(request: Request, pathname: string): Promise<Response | null> {
    const { info, status } = this.#server.definition;
    if (request.method !== 'GET') return null;
    if (pathname === '/health') return Response.json({ status: 'ok', version: info.version });
    if (status === undefined) return null;
    const refused = pathname === '/metrics' ? await this.#gate?.(request) : null;
    if (refused) return refused;
    const reply = await statusReply(pathname, status);
    return reply && new Response(reply.body, { status: reply.status, headers: { ...reply.headers } });
  }
}

/** A message, or several of a revision that has batches. A batch cannot begin a connection. */
function isUsable(value: unknown): boolean {
  if (!Array.isArray(value)) return messageOf(value) !== undefined;
  return (
    value.length > 0 && value.every((each) => messageOf(each) !== undefined && !isInitializeRequest(each))
  );
}

async function readBody(
  request: Request,
  parsed: unknown,
  maxBytes: number,
): Promise<{ readonly value: unknown } | Response> {
  if (!isJsonContentType(request.headers.get('content-type'))) {
    const text = 'Unsupported Media Type: Content-Type must be application/json.';
    return refuse(415, rpcCodes.invalidRequest, text);
  }
  if (isObject(parsed) || Array.isArray(parsed)) return { value: parsed };
  const body =
    typeof parsed === 'string' || parsed instanceof Uint8Array
      ? inLimit(Buffer.from(parsed), maxBytes)
      : await readRequestBody(request, maxBytes).catch(() => null);
  if (body === null)
    return refuse(400, rpcCodes.parseError, 'Parse error: the body ended too early, or was read before.');
  if (body.tooLarge) {
    const text = `Payload Too Large: the body may have at most ${maxBytes} bytes.`;
    return refuse(413, rpcCodes.invalidRequest, text);
  }
  try {
    return { value: JSON.parse(String(propertyOf(body, 'text'))) };
  } catch {
    return refuse(400, rpcCodes.parseError, 'Parse error: the body is not valid JSON.');
  }
}

const inLimit = (bytes: Buffer, most: number) =>
  bytes.length > most
    ? { tooLarge: true as const }
    : { tooLarge: false as const, text: bytes.toString('utf8') };

/** A browser asks whether a page may send a request, and sends no token with that. */
const isPreflight = ({ method, headers }: Request): boolean =>
  method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method');

/** Lets pages of the allowed origins read a response. */
function withOrigin(response: Response, { headers }: Request, allowed: readonly string[]): Response {
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
