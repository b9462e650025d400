import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { ProtocolServer } from '../protocol/sdk-server.ts';
import { sendError } from './json.ts';
import type { SessionSettings } from './options.ts';

interface Session {
  readonly transport: StreamableHTTPServerTransport;
  readonly close: () => Promise<void>;
  /** Of the credentials that began it: others cannot go on with it. */
  readonly owner: string;
  lastUsed: number;
}

/** The sessions of an endpoint. */
export interface Sessions {
  handle(request: IncomingMessage, response: ServerResponse, body?: unknown): Promise<void>;
  close(): Promise<void>;
}

const ownerOf = ({ headers }: IncomingMessage): string =>
  createHash('sha256')
    .update(headers.authorization ?? '')
    .digest('base64');

/** Keeps one SDK server per session, with the SDK's own transport. */
export function createSessions(
  server: ProtocolServer,
  { max, idleTimeout, clock }: SessionSettings,
): Sessions {
  const sessions = new Map<string, Session>();

  const end = async (id: string): Promise<void> => {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.close();
  };
  const endIdle = async (): Promise<void> => {
    const byAge = [...sessions].sort((a, b) => a[1].lastUsed - b[1].lastUsed);
    for (const [id, session] of byAge) {
      if (sessions.size >= max || clock.now() - session.lastUsed > idleTimeout) await end(id);
    }
  };
  const begin = async (owner: string): Promise<StreamableHTTPServerTransport> => {
    await endIdle();
    const connection = server.connect();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, close: () => connection.close(), owner, lastUsed: clock.now() });
      },
      onsessionclosed: (id) => void end(id),
    });
    // The SDK declares its callbacks in a way that exactOptionalPropertyTypes refuses.
    await connection.connect(transport as unknown as Parameters<typeof connection.connect>[0]);
    return transport;
  };

  return {
    async handle(request, response, body) {
      const id = request.headers['mcp-session-id'];
      if (id === undefined && isInitializeRequest(body)) {
        await (await begin(ownerOf(request))).handleRequest(request, response, body);
        return;
      }
      const found = typeof id === 'string' ? sessions.get(id) : undefined;
      const session = found?.owner === ownerOf(request) ? found : undefined;
      if (!session) {
        const status = id === undefined ? 400 : 404;
        const message =
          id === undefined
            ? 'Bad Request: the Mcp-Session-Id header is missing.'
            : 'Session not found: initialize again.';
        sendError(response, status, { code: -32001, message });
        return;
      }
      session.lastUsed = clock.now();
      await session.transport.handleRequest(request, response, body);
    },
    async close() {
      await Promise.all([...sessions.keys()].map(end));
    },
  };
}
