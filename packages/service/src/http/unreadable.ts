import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** Answers what Node's parser could not read: too large a head, or no HTTP at all. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const detail = {
    400: 'This is not a readable HTTP request.',
    408: 'The request did not arrive in time.',
    431: 'The headers or the URL are too long.',
  }[status];
  const code = { 400: 'unreadable_request', 408: 'request_timeout', 431: 'headers_too_long' }[status];
  const body = JSON.stringify({ title: STATUS_CODES[status], status, code, detail });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
