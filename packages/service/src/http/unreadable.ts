import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** Why Node could not make a request of what came. */
export type Unreadable = 'syntax' | 'timeout' | 'head' | 'connect';

const refusals = {
  syntax: [400, 'unreadable_request', 'This is not a readable HTTP request.'],
  timeout: [408, 'request_timeout', 'The request did not arrive in time.'],
  head: [431, 'headers_too_long', 'The headers or the URL are too long.'],
  connect: [405, 'method_not_allowed', 'This service does not accept CONNECT: it is not a proxy.'],
} as const satisfies Record<Unreadable, readonly [number, string, string]>;

/** For how long bytes are still received after a refusal, since closing at once could keep the client from reading it. */
const lingerMs = 1_000;

export function reasonOf(error: NodeJS.ErrnoException): Unreadable {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'head';
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'timeout' : 'syntax';
}

/** Writes a refusal on a connection that carries no request, and ends it. */
export function refuseUnreadable(stream: Socket, reason: Unreadable): void {
  const [status, code, detail] = refusals[reason];
  const body = problem(status, code, detail);
  stream.removeAllListeners('data');
  stream.on('data', () => undefined);
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  setTimeout(() => stream.destroy(), lingerMs).unref();
}

/** Refuses the request after the last one that may be sent ahead; its connection ends with it. */
export function tooManyAhead(most: number): (request: IncomingMessage, response: ServerResponse) => void {
  const body = problem(
    429,
    'too_many_pipelined',
    `More than ${most} requests were sent ahead on this connection. Wait for responses, or use more connections.`,
  );
  return (_request, response) =>
    response
      .writeHead(429, {
        'content-type': 'application/problem+json',
        'content-length': Buffer.byteLength(body),
        connection: 'close',
      })
      .end(body);
}

function problem(status: number, code: string, detail: string): string {
  return JSON.stringify({ title: STATUS_CODES[status], status, code, detail });
}
