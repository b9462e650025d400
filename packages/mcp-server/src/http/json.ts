import type { IncomingMessage, ServerResponse } from 'node:http';
import { propertyOf } from '@call-attribution/core/errors';
import { errorResponse, type RequestId, type RpcFailure } from '../protocol/messages.ts';

// JSON over HTTP: request bodies in, responses and event streams out.

/** A request body that cannot be used, with the status of the response. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Reads a JSON body up to a limit. A longer one is refused as soon as it passes the limit. One that a parser of the application has
 * read before is taken from `request.body`.
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new BodyError(415, 'Unsupported Media Type: Content-Type must be application/json.');
  }
  const tooLarge = `Payload Too Large: the body may have at most ${maxBytes} bytes.`;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new BodyError(413, tooLarge);
  if (request.readableDidRead) return parsedBefore(propertyOf(request, 'body'), tooLarge, maxBytes);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) throw new BodyError(413, tooLarge);
      parts.push(part);
    }
  } catch (error) {
    // The client went away, or Node.js cut off a body that came too slowly.
    throw error instanceof BodyError ? error : new BodyError(400, 'Parse error: the body ended too early.');
  }
  return parse(Buffer.concat(parts, size).toString('utf8'));
}

function parsedBefore(body: unknown, tooLarge: string, maxBytes: number): unknown {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    if (typeof body === 'object' && body !== null) return body;
    throw new BodyError(
      500,
      'The body was read before it reached the MCP endpoint. Pass it on as request.body, or mount the endpoint before the parser.',
    );
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body);
  if (bytes.length > maxBytes) throw new BodyError(413, tooLarge);
  return parse(bytes.toString('utf8'));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BodyError(400, 'Parse error: the body is not valid JSON.');
  }
}

/** Sends JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Sends a JSON-RPC error. */
export function sendError(
  response: ServerResponse,
  status: number,
  error: RpcFailure,
  id: RequestId | null = null,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(response, status, errorResponse(id, error), headers);
}

/** A response that starts as plain JSON and turns into an event stream with the first notification. */
export interface Reply {
  notify(message: object): void;
  /** Sends the last message and ends the response. */
  finish(message: object, status?: number): void;
}

/** Opens a reply. `wantsEvents` says that the client requested notifications with this request. */
export function openReply(response: ServerResponse, wantsEvents: boolean): Reply {
  const sendEvent = (message: object): void => {
    if (!response.headersSent) {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      });
    }
    response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  };
  const isClosed = (): boolean => response.destroyed || response.writableEnded;
  return {
    notify(message) {
      if (wantsEvents && !isClosed()) sendEvent(message);
    },
    finish(message, status = 200) {
      if (isClosed()) return;
      if (response.headersSent) {
        sendEvent(message);
        response.end();
      } else {
        sendJson(response, status, message);
      }
    },
  };
}
