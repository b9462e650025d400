import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MemorySocket } from './memory-socket.ts';

/** A request listener of Node.js. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** What a `Request` does not say. */
export interface FetchInfo {
  /** Address of the client, where the runtime knows it. Default: unknown. */
  readonly address?: string | undefined;
}

/** Takes a `Request` and resolves to its `Response`. */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response>;

/**
 * Calls a request listener of Node.js with a `Request`. Bodies are streamed at the pace of their reader, and the listener sees a
 * closed connection when the signal of the request is aborted or the body of the response is cancelled.
 *
 * @example
 * const respond = fetchHandler((request, response) => response.end('Hello'));
 * const response = await respond(new Request('http://localhost/'));
 */
export function fetchHandler(handle: NodeHandler): FetchHandler {
  return (request, info) => {
    const url = new URL(request.url);
    // Runtimes pass something of their own here when they call the handler themselves.
    const address = typeof info?.address === 'string' ? info.address : undefined;
    return new Promise<Response>((resolve, reject) => {
      if (request.signal.aborted) return reject(request.signal.reason);
      if (request.bodyUsed) {
        return reject(
          new TypeError(
            'The body of the request has been read already. Pass the request on before reading it.',
          ),
        );
      }
      const socket = new MemorySocket(
        { address, isSecure: url.protocol === 'https:' },
        ({ status, headers, body }) =>
          resolve(new Response(hasBody(request.method, status) ? body : null, { status, headers })),
        reject,
      );
      const incoming = new WebRequest(socket as unknown as Socket, request, url);
      const response = new ServerResponse(incoming);
      // The bytes of the body as they are: whoever sends the Response frames them.
      response.useChunkedEncodingByDefault = false;
      response.sendDate = false;
      response.assignSocket(socket as unknown as Socket);
      const leave = (): void => void socket.destroy();
      request.signal.addEventListener('abort', leave, { once: true });
      response.once('finish', () => socket.finish());
      socket.once('close', () => {
        request.signal.removeEventListener('abort', leave);
        incoming.destroy();
      });
      const failed = (error: unknown): void => void socket.destroy(error as Error);
      try {
        Promise.resolve(handle(incoming, response)).catch(failed);
      } catch (error) {
        failed(error);
      }
    });
  };
}

const hasBody = (method: string, status: number): boolean =>
  method !== 'HEAD' && status !== 204 && status !== 205 && status !== 304;

/** The request as Node.js would have received it. */
class WebRequest extends IncomingMessage {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null;

  constructor(socket: Socket, request: Request, url: URL) {
    super(socket);
    this.method = request.method;
    this.url = url.pathname + url.search;
    this.httpVersion = '1.1';
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    const headers = Object.fromEntries(request.headers);
    headers.host ??= url.host;
    this.headers = headers;
    this.rawHeaders = Object.entries(headers).flat();
    this.#reader = request.body?.getReader() ?? null;
    this.complete = this.#reader === null;
  }

  override _read(): void {
    if (this.#reader === null) {
      this.push(null);
      return;
    }
    this.#reader.read().then(
      ({ done, value }) => {
        this.complete ||= done;
        this.push(done ? null : value);
      },
      (error: Error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.complete) this.#reader?.cancel(error).catch(() => {});
    super._destroy(error, callback);
  }
}
