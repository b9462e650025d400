import type { ServerResponse } from 'node:http';
import { errorResponse, type RequestId } from '../protocol/messages.ts';

/** Answers with JSON. */
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

/** Answers with a JSON-RPC error. */
export function sendError(
  response: ServerResponse,
  status: number,
  error: { code: number; message: string; data?: unknown },
  id: RequestId | null = null,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(response, status, errorResponse(id, error), headers);
}

/** A response that starts as plain JSON and turns into an event stream with the first notification. */
export interface Reply {
  notify(message: object): void;
  /** The last message, which ends the response. */
  finish(message: object, status?: number): void;
}

/** Opens a reply. `wantsEvents` says that the client asked for notifications with this request. */
export function openReply(response: ServerResponse, wantsEvents: boolean): Reply {
  const event = (message: object): void => {
    if (!response.headersSent) {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      });
    }
    response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  };
  const gone = (): boolean => response.destroyed || response.writableEnded;
  return {
    notify(message) {
      if (wantsEvents && !gone()) event(message);
    },
    finish(message, status = 200) {
      if (gone()) return;
      if (response.headersSent) {
        event(message);
        response.end();
      } else {
        sendJson(response, status, message);
      }
    },
  };
}
