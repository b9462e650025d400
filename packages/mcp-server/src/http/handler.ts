import type { IncomingMessage, ServerResponse } from 'node:http';
import { ConfigurationError } from '@call-attribution/core/errors';
import { statusReply } from '@call-attribution/node-stream/status';
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
import type { EndpointSettings, HttpAuth } from './options.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { serveStateless } from './stateless.ts';

/** Handles requests for the endpoint, whoever listens. */
export interface RequestHandler {
  /** Handles one request. Every failure is a response. */
  request(incoming: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends the sessions. */
  close(): Promise<void>;
}

/** Refuses a token that clients could not send or others could guess. */
export function checkToken(auth: HttpAuth | undefined): void {
  if (auth?.token === undefined) return;
  if (auth.token.length < 16) {
    throw new ConfigurationError(
      'invalid_option',
      'The token of the HTTP endpoint is too short: use at least 16 characters.',
    );
  }
  if (!isBearerToken(auth.token)) {
    throw new ConfigurationError(
      'invalid_option',
      'The token of the HTTP endpoint has a character that an Authorization header cannot carry: ' +
        'use only letters, digits and - . _ ~ + / =.',
    );
  }
}

/**
 * Makes the handler of an endpoint at `path`. Null: a host application has chosen the path, so every request is for the endpoint
 * except those for the metadata.
 */
export function createHandler(
  server: ProtocolServer,
  path: string | null,
  settings: EndpointSettings,
): RequestHandler {
  const handler = new EndpointHandler(server, path, settings);
  return {
    async request(incoming, response) {
      try {
        await handler.handle(incoming, response);
      } catch (error) {
        server.definition.onInternalError?.(error);
        if (response.headersSent) response.destroy();
        else sendError(response, 500, { code: rpcCodes.internalError, message: 'Internal error' });
      }
    },
    close: async () => handler.sessions?.close(),
  };
}

const unauthorized = 'Unauthorized: send the bearer token of this server.';

class EndpointHandler {
  readonly sessions: Sessions | undefined;
  readonly #server: ProtocolServer;
  readonly #path: string | null;
  readonly #settings: EndpointSettings;
  /** The path that clients see. */
  readonly #publicPath: string;

  constructor(server: ProtocolServer, path: string | null, settings: EndpointSettings) {
    this.#server = server;
    this.#path = path;
    this.#settings = settings;
    this.sessions = settings.sessions ? createSessions(server, settings.sessions) : undefined;
    const resource = settings.auth?.metadata?.resource;
    this.#publicPath = path ?? (resource === undefined ? '' : new URL(resource).pathname);
  }

  async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { allowedHosts, allowedOrigins } = this.#settings;
    const refusal = refusalOf(incoming, allowedHosts, allowedOrigins);
    if (refusal !== undefined) {
      sendError(response, 403, { code: rpcCodes.invalidRequest, message: refusal });
      return;
    }
    try {
      await this.#route(incoming, response, (incoming.url ?? '/').replace(/[?#].*$/, ''));
    } catch (error) {
      if (!(error instanceof BodyError)) throw error;
      const code = error.status === 400 ? rpcCodes.parseError : rpcCodes.invalidRequest;
      // Reading the rest of the body only to skip it would cost too much, so the connection ends here.
      sendError(response, error.status, { code, message: error.message }, null, { connection: 'close' });
    }
  }

  async #route(incoming: IncomingMessage, response: ServerResponse, pathname: string): Promise<void> {
    const path = this.#path;
    const metadata = this.#settings.auth?.metadata;
    if (pathname === path) {
      await this.#endpoint(incoming, response);
    } else if (path !== null && (await this.#sendStatus(incoming, response, pathname))) {
      return;
    } else if (metadata && isMetadataPath(pathname, this.#publicPath) && incoming.method === 'GET') {
      sendJson(response, 200, resourceMetadata(metadata), { 'access-control-allow-origin': '*' });
    } else if (path === null) {
      await this.#endpoint(incoming, response);
    } else {
      sendJson(response, 404, { error: `Not found. The endpoint is ${path}.` });
    }
  }

  async #endpoint(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { sessions } = this;
    const { auth, maxBodyBytes } = this.#settings;
    if (!(await isAuthorized(request, auth))) {
      const error = { code: rpcCodes.invalidRequest, message: unauthorized };
      sendError(response, 401, error, null, this.#challenge());
      return;
    }
    if (request.method === 'POST') {
      const body = await readJson(request, maxBodyBytes);
      const version = request.headers['mcp-protocol-version'];
      if (isStatelessMessage(body, typeof version === 'string' ? version : undefined))
        await serveStateless(this.#server, body, request, response);
      else if (sessions) await sessions.handle(request, response, body);
      else await serveHandshake(this.#server, body, request, response);
      return;
    }
    if (sessions && (request.method === 'GET' || request.method === 'DELETE')) {
      await sessions.handle(request, response);
      return;
    }
    const allow = sessions ? 'GET, POST, DELETE' : 'POST';
    const error = { code: rpcCodes.invalidRequest, message: `Method Not Allowed: use ${allow}.` };
    sendError(response, 405, error, null, { allow });
  }

  /** Health is for everybody who may reach the endpoint; metrics need its token. Returns false for other paths. */
  async #sendStatus(request: IncomingMessage, response: ServerResponse, pathname: string): Promise<boolean> {
    const { info, status } = this.#server.definition;
    if (request.method !== 'GET') return false;
    if (pathname === '/health') {
      sendJson(response, 200, { status: 'ok', version: info.version });
      return true;
    }
    if (status === undefined) return false;
    if (pathname === '/metrics' && !(await isAuthorized(request, this.#settings.auth))) {
      sendJson(response, 401, { error: unauthorized }, this.#challenge());
      return true;
    }
    const reply = await statusReply(pathname, status);
    if (reply === null) return false;
    response.writeHead(reply.status, reply.headers);
    response.end(reply.body);
    return true;
  }

  #challenge() {
    return { 'www-authenticate': challenge(this.#settings.auth, this.#publicPath) };
  }
}
