import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rpcCodes } from '../protocol/errors.ts';
import type { Front } from '../protocol/front.ts';
import { isStatelessMessage } from '../protocol/revision.ts';
import { BodyError, readJson } from './body.ts';
import { foreignSource, isAuthorized, isBearerText, isLoopback } from './guards.ts';
import { serveHandshake } from './handshake.ts';
import { challenge, isMetadataPath, resourceMetadata } from './metadata.ts';
import type { HttpOptions } from './options.ts';
import { sendError, sendJson } from './reply.ts';
import { createSessions } from './sessions.ts';
import { serveStateless } from './stateless.ts';

/** A running HTTP endpoint. */
export interface HttpEndpoint {
  /** The URL to give to clients. */
  readonly url: string;
  /** Takes no new requests, waits for those under way (up to the grace), then closes. */
  close(): Promise<void>;
}

const defaultMaxBody = 1024 * 1024;

/** Serves a front over Streamable HTTP. */
export async function listenHttp(front: Front, options: HttpOptions = {}): Promise<HttpEndpoint> {
  const { port = 3000, host = '127.0.0.1', path = '/mcp', graceMs = 5000, auth } = options;
  const protectedByToken = auth?.token !== undefined || auth?.verify !== undefined;
  if (!isLoopback(host) && !protectedByToken) {
    throw new Error(
      `Refusing to listen on ${host} without a token: other machines could read call records. ` +
        'Set a token (CALLS_MCP_TOKEN, or auth.token), or listen on 127.0.0.1.',
    );
  }
  if (auth?.token !== undefined && auth.token.length < 16) {
    throw new Error('The token of the HTTP endpoint is too short: use at least 16 characters.');
  }
  if (auth?.token !== undefined && !isBearerText(auth.token)) {
    throw new Error(
      'The token of the HTTP endpoint has a character that no Authorization header can carry: ' +
        'use letters, digits and - . _ ~ + / = only.',
    );
  }
  const handle = createHandler(front, path, options);
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, (request, response) => {
    handle.request(request, response).catch((error: unknown) => {
      front.definition.onInternalError?.(error);
      if (response.headersSent) response.destroy();
      else sendError(response, 500, { code: rpcCodes.internalError, message: 'Internal error' });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${bound.port}${path}`, close: () => stop(server, handle.close, graceMs) };
}

async function stop(server: Server, closeSessions: () => Promise<void>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Streams of sessions stay open by design, so they are ended rather than waited for.
  await closeSessions();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

function createHandler(front: Front, path: string, options: HttpOptions) {
  const { auth, allowedHosts = [], allowedOrigins = [], maxBodyBytes = defaultMaxBody } = options;
  const sessions = options.sessions
    ? createSessions(front, options.sessions === true ? {} : options.sessions)
    : undefined;

  const endpoint = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!(await isAuthorized(request, auth))) {
      const error = {
        code: rpcCodes.invalidRequest,
        message: 'Unauthorized: send this server’s bearer token.',
      };
      sendError(response, 401, error, null, { 'www-authenticate': challenge(auth, path) });
      return;
    }
    if (request.method === 'POST') {
      const body = await readJson(request, maxBodyBytes);
      const version = request.headers['mcp-protocol-version'];
      if (isStatelessMessage(body, typeof version === 'string' ? version : undefined)) {
        await serveStateless(front, body, request, response);
      } else if (sessions) {
        await sessions.handle(request, response, body);
      } else {
        await serveHandshake(front, body, request, response);
      }
      return;
    }
    if (sessions && (request.method === 'GET' || request.method === 'DELETE')) {
      await sessions.handle(request, response);
      return;
    }
    const allow = sessions ? 'GET, POST, DELETE' : 'POST';
    const error = { code: rpcCodes.invalidRequest, message: `Method Not Allowed: use ${allow}.` };
    sendError(response, 405, error, null, { allow });
  };

  const request = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const foreign = foreignSource(incoming, allowedHosts, allowedOrigins);
    if (foreign !== undefined) {
      sendError(response, 403, { code: rpcCodes.invalidRequest, message: foreign });
      return;
    }
    const pathname = (incoming.url ?? '/').replace(/[?#].*$/, '');
    try {
      if (pathname === path) {
        await endpoint(incoming, response);
      } else if (pathname === '/health' && incoming.method === 'GET') {
        sendJson(response, 200, { status: 'ok', version: front.definition.info.version });
      } else if (auth?.metadata && isMetadataPath(pathname, path) && incoming.method === 'GET') {
        sendJson(response, 200, resourceMetadata(auth.metadata), { 'access-control-allow-origin': '*' });
      } else {
        sendJson(response, 404, { error: `Not found. The endpoint is ${path}.` });
      }
    } catch (error) {
      if (!(error instanceof BodyError)) throw error;
      const code = error.status === 400 ? rpcCodes.parseError : rpcCodes.invalidRequest;
      // The rest of an unread body cannot be skipped cheaply, so the connection ends here.
      sendError(response, error.status, { code, message: error.message }, null, { connection: 'close' });
    }
  };
  return { request, close: async () => sessions?.close() };
}
