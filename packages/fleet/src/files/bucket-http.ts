import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent, type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { codeOf } from '@call-attribution/core/errors';

/** What is sent with a PUT. Opened again for each attempt. */
export interface BucketBody {
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
  open(): Buffer | Readable;
}

/** There was no complete response: the server may have done what it was asked, or may not. */
export class NoAnswer extends Error {
  /** Code of what happened, such as `ECONNRESET`. */
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: BucketBody | undefined;
  readonly onBytes: ((bytes: Uint8Array) => void) | undefined;
}

/** One response. */
export interface BucketReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty when the bytes were passed on. */
  readonly body: Buffer;
}

/** Sends requests until it is closed. */
export interface Sender {
  send(request: Sent): Promise<BucketReply>;
  /** Aborted once it is closed. */
  readonly closed: AbortSignal;
  close(): void;
}

/** Responses that are kept in memory: receipts, lists of keys. */
const mostBytes = 64 * 1024 * 1024;

/**
 * Sends single requests over connections that are used again. It uses `node:http` since `fetch` cannot send a file with its
 * length, and redirects are not followed.
 */
export function openSender(endpoint: URL, idleMs: number): Sender {
  const isSecure = endpoint.protocol === 'https:';
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 64 });
  const stop = new AbortController();
  // One for each request under way.
  setMaxListeners(0, stop.signal);

  return {
    send: (request) => send(request, endpoint, { agent, idleMs, signal: stop.signal }),
    closed: stop.signal,
    close(): void {
      stop.abort(new Error('the target was closed'));
      agent.destroy();
    },
  };
}

interface Sending {
  readonly agent: HttpAgent;
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

function send(
  { method, path, headers, body, onBytes }: Sent,
  endpoint: URL,
  { agent, idleMs, signal }: Sending,
): Promise<BucketReply> {
  const isSecure = endpoint.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (isSecure ? requestHttps : requestHttp)({
      agent,
      method,
      host: endpoint.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: endpoint.port || (isSecure ? 443 : 80),
      path,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-length': body.bytes }) },
      signal,
    });
    const lost = (error: unknown) => {
      reject(signal.aborted ? signal.reason : new NoAnswer(codeOf(error) ?? 'UNKNOWN'));
      request.destroy();
    };
    request.setTimeout(idleMs, () => lost({ code: 'ETIMEDOUT' }));
    request.on('error', lost);
    request.on('response', (response) => {
      const { statusCode: status = 0 } = response;
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        if (onBytes !== undefined && status === 200) return onBytes(chunk);
        size += chunk.length;
        if (size > mostBytes) return lost({ code: 'RESPONSE_TOO_LONG' });
        chunks.push(chunk);
      });
      response.on('error', lost);
      response.on('end', () => {
        resolve({ status, headers: response.headers, body: Buffer.concat(chunks) });
        // A server may refuse a body before it has all of it; the connection cannot be used again then.
        if (!request.writableFinished) request.destroy();
      });
    });
    const content = body?.open();
    if (content === undefined || Buffer.isBuffer(content)) return void request.end(content);
    // A file that cannot be read has nothing to do with the server, which never gets the whole body.
    content.on('error', (error) => {
      reject(error);
      request.destroy();
    });
    request.on('close', () => content.destroy());
    content.pipe(request);
  });
}
