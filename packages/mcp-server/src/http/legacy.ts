import { createHash, randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { decodeJwt } from 'jose';
import { isObject } from '../protocol/messages.ts';
import type { SessionSettings } from './options.ts';

/** Serves the revisions that begin with `initialize`. */
export interface Legacy {
  fetch(request: Request, body?: unknown): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Without sessions: a server for each request. The SDK's own way always opens a stream of events; one response in JSON is half
 * the work, and enough for a client that requested no progress.
 */
export function stateless(factory: McpServerFactory): Legacy {
  return {
    async fetch(request, body) {
      const server = await factory({ era: 'legacy' });
      const transport = new WebStandardStreamableHTTPServerTransport({
        enableJsonResponse: !wantsProgress(body),
      });
      await server.connect(transport);
      const gone = new Promise<Response>((resolve) => {
        request.signal.addEventListener('abort', () => {
          void server.close();
          resolve(new Response(null, { status: 499 }));
        });
      });
      const response = await Promise.race([transport.handleRequest(request, { parsedBody: body }), gone]);
      const type = response.headers.get('content-type') ?? '';
      if (!type.startsWith('text/event-stream')) await server.close();
      return response;
    },
    async close() {},
  };
}

function wantsProgress(body: unknown): boolean {
  const params = isObject(body) ? body.params : undefined;
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) && meta.progressToken !== undefined;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Who began it: others cannot go on with it. */
  readonly owner: string;
  lastUsed: number;
}

/** Who sends a request. */
type OwnerOf = (request: Request) => string;

/** By the token itself. */
const byToken: OwnerOf = ({ headers }) =>
  createHash('sha256')
    .update(headers.get('authorization') ?? '')
    .digest('base64');

/** By the person that a token is for, since tokens are renewed. Only for tokens whose signature was checked before. */
export const bySubject: OwnerOf = (request) => {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  try {
    const { iss, sub } = decodeJwt(token);
    if (typeof iss === 'string' && typeof sub === 'string') return JSON.stringify([iss, sub]);
  } catch {
    // The static token of the endpoint.
  }
  return byToken(request);
};

/** With sessions: a server for each, until it ends, is idle for too long, or has to make room. */
export function withSessions(
  factory: McpServerFactory,
  { max, idleTimeout, clock }: SessionSettings,
  ownerOf: OwnerOf = byToken,
): Legacy {
  const sessions = new Map<string, Session>();

  const end = async (id: string): Promise<void> => {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.transport.close();
  };
  const endIdle = async (): Promise<void> => {
    const byAge = [...sessions].sort((a, b) => a[1].lastUsed - b[1].lastUsed);
    for (const [id, session] of byAge) {
      if (sessions.size >= max || clock.now() - session.lastUsed > idleTimeout) await end(id);
    }
  };
  const begin = async (owner: string): Promise<WebStandardStreamableHTTPServerTransport> => {
    await endIdle();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { transport, owner, lastUsed: clock.now() }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = await factory({ era: 'legacy' });
    await server.connect(transport);
    return transport;
  };

  return {
    async fetch(request, body) {
      const id = request.headers.get('mcp-session-id');
      const session = id === null ? undefined : sessions.get(id);
      const isOwn = session?.owner === ownerOf(request);
      if (session && isOwn) session.lastUsed = clock.now();
      // A transport without a session says what is missing, or that there is no such session.
      const transport =
        session && isOwn
          ? session.transport
          : id === null && isInitializeRequest(body)
            ? await begin(ownerOf(request))
            : id === null
              ? new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID })
              : null;
      if (transport === null)
        return Response.json(
          {
            jsonrpc: '2.0',
            id: null,
            error: { code: -32001, message: 'Session not found: initialize again.' },
          },
          { status: 404 },
        );
      return transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
    },
    async close() {
      await Promise.all([...sessions.keys()].map(end));
    },
  };
}
