import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopback } from '@call-attribution/core';
import { rpcCodes } from '../protocol/messages.ts';
import type { ProtocolServer } from '../protocol/sdk-server.ts';
import { isStatelessMessage } from '../protocol/stateless.ts';
import {
  challenge,
  isAuthorized,
  isBearerToken,
  isMetadataPath,
  refusalOf,
  resourceMetadata,
} from './access.ts';
import { serveHandshake } from './handshake.ts';
import { BodyError, readJson, sendError, sendJson } from './json.ts';
import type { HttpEndpoint, HttpOptions } from './options.ts';
import { createSessions } from './sessions.ts';
import { serveStateless } from './stateless.ts';

const defaultMaxBody = 1024 * 1024;

/** Serves over Streamable HTTP. */
export async function listenHttp(server: ProtocolServer, options: HttpOptions = {}): Promise<HttpEndpoint> {
  const { port = 3000, host = '127.0.0.1', path = '/mcp', graceMs = 5000, auth } = options;
  const protectedByToken = auth?.token !== undefined || auth?.verify !== undefined;
  if (!isLoopback(host) && !protectedByToken) {
    throw new Error(
      `Refusing to listen on ${host} without a token: other machines could read call records. ` +
        'Set a token (CALLS_MCP_TOKEN or auth.token), or listen on 127.0.0.1.',
    );
  }
  if (auth?.token !== undefined && auth.token.length < 16) {
    throw new Error('The token of the HTTP endpoint is too short: use at least 16 characters.');
  }
  if (auth?.token !== undefined && !isBearerToken(auth.token)) {
    throw new Error(
      'The token of the HTTP endpoint has a character that an Authorization header cannot carry: ' +
        'use only letters, digits and - . _ ~ + / =.',
    );
  }
  const handle = createHandler(server, path, options);
  const listener = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, (request, response) => {
    response.once('close', () => {
      // Clients keep connections open after a response, which would delay a stop for seconds.
      if (!listener.listening) listener.closeIdleConnections();
    });
    handle.request(request, response).catch((error: unknown) => {
      server.definition.onInternalError?.(error);
      if (response.headersSent) response.destroy();
      else sendError(response, 500, { code: rpcCodes.internalError, message: 'Internal error' });
    });
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, host, resolve);
  });
  const bound = listener.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= stop(listener, handle.close, graceMs));
  return { url: `http://${name}:${bound.port}${path}`, close, [Symbol.asyncDispose]: close };
}

async function stop(listener: Server, closeSessions: () => Promise<void>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
  listener.closeIdleConnections();
  // Streams of sessions stay open by design, so they are ended instead of waited for.
  await closeSessions();
  const timer = setTimeout(() => listener.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

function createHandler(server: ProtocolServer, path: string, options: HttpOptions) {
  const { auth, allowedHosts = [], allowedOrigins = [], maxBodyBytes = defaultMaxBody } = options;
  const sessions = options.sessions
    ? createSessions(server, options.sessions === true ? {} : options.sessions)
    : undefined;

  const endpoint = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!(await isAuthorized(request, auth))) {
      const error = {
        code: rpcCodes.invalidRequest,
        message: 'Unauthorized: send the bearer token of this server.',
      };
      sendError(response, 401, error, null, { 'www-authenticate': challenge(auth, path) });
      return;
    }
    if (request.method === 'POST') {
      const body = await readJson(request, maxBodyBytes);
      const version = request.headers['mcp-protocol-version'];
      if (isStatelessMessage(body, typeof version === 'string' ? version : undefined)) {
        await serveStateless(server, body, request, response);
      } else if (sessions) {
        await sessions.handle(request, response, body);
      } else {
        await serveHandshake(server, body, request, response);
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
    const refusal = refusalOf(incoming, allowedHosts, allowedOrigins);
    if (refusal !== undefined) {
      sendError(response, 403, { code: rpcCodes.invalidRequest, message: refusal });
      return;
    }
    const pathname = (incoming.url ?? '/').replace(/[?#].*$/, '');
    try {
      if (pathname === path) {
        await endpoint(incoming, response);
      } else if (pathname === '/health' && incoming.method === 'GET') {
        sendJson(response, 200, { status: 'ok', version: server.definition.info.version });
      } else if (auth?.metadata && isMetadataPath(pathname, path) && incoming.method === 'GET') {
        sendJson(response, 200, resourceMetadata(auth.metadata), { 'access-control-allow-origin': '*' });
      } else {
        sendJson(response, 404, { error: `Not found. The endpoint is ${path}.` });
      }
    } catch (error) {
      if (!(error instanceof BodyError)) throw error;
      const code = error.status === 400 ? rpcCodes.parseError : rpcCodes.invalidRequest;
      // Reading the rest of the body only to skip it would cost too much, so the connection ends here.
      sendError(response, error.status, { code, message: error.message }, null, { connection: 'close' });
    }
  };
  return { request, close: async () => sessions?.close() };
}
