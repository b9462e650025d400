import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Front } from '../protocol/front.ts';
import type { SessionOptions } from './options.ts';
import { sendError } from './reply.ts';

interface Session {
  readonly transport: StreamableHTTPServerTransport;
  readonly close: () => Promise<void>;
  lastUsed: number;
}

/** The sessions of the revisions that have them. */
export interface Sessions {
  handle(request: IncomingMessage, response: ServerResponse, body?: unknown): Promise<void>;
  close(): Promise<void>;
}

/** Keeps one SDK server per session, on the SDK's own transport. */
export function createSessions(front: Front, options: SessionOptions = {}): Sessions {
  const { max = 200, idleMs = 30 * 60_000, now = Date.now } = options;
  const sessions = new Map<string, Session>();

  const end = async (id: string): Promise<void> => {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.close();
  };
  const endIdle = async (): Promise<void> => {
    const byAge = [...sessions].sort((a, b) => a[1].lastUsed - b[1].lastUsed);
    for (const [id, session] of byAge) {
      if (sessions.size >= max || now() - session.lastUsed > idleMs) await end(id);
    }
  };
  const begin = async (): Promise<StreamableHTTPServerTransport> => {
    await endIdle();
    const server = front.connect();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, close: () => server.close(), lastUsed: now() });
      },
      onsessionclosed: (id) => void end(id),
    });
    // The SDK's class declares its callbacks in a way that exact optional types refuse.
    await server.connect(transport as unknown as Parameters<typeof server.connect>[0]);
    return transport;
  };

  return {
    async handle(request, response, body) {
      const id = request.headers['mcp-session-id'];
      if (id === undefined && isInitializeRequest(body)) {
        await (await begin()).handleRequest(request, response, body);
        return;
      }
      const session = typeof id === 'string' ? sessions.get(id) : undefined;
      if (!session) {
        const status = id === undefined ? 400 : 404;
        const message =
          id === undefined
            ? 'Bad Request: Mcp-Session-Id is missing.'
            : 'Session not found: initialize again.';
        sendError(response, status, { code: -32001, message });
        return;
      }
      session.lastUsed = now();
      await session.transport.handleRequest(request, response, body);
    },
    async close() {
      await Promise.all([...sessions.keys()].map(end));
    },
  };
}
