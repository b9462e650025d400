import type { IncomingHttpHeaders } from 'node:http';
import { propertyOf } from '../errors/checked-reads.ts';
import type { HttpRequest, OwnDispatcher, ResponseHandler } from './dispatch.ts';

/** What the client passes to a `fetch` function. */
export interface FetchInit {
  /** The method. */
  readonly method: 'GET' | 'POST';
  /** Names and values. */
  readonly headers: [name: string, value: string][];
  /** The body of a POST. */
  readonly body?: string;
  /** The client follows redirects itself. */
  readonly redirect: 'manual';
  /** Aborted when the client no longer wants the response. */
  readonly signal: AbortSignal;
}

/** What the client reads of a response of `fetch`. */
export interface FetchResponse {
  /** HTTP status. */
  readonly status: number;
  /** Headers, as a `Headers` object has them. */
  readonly headers: { forEach(each: (value: string, name: string) => void): void };
  /** An async iterable of bytes, as a `ReadableStream` is. */
  readonly body: object | null;
}

/** A `fetch` function: that of the platform, or one that works alike. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/**
 * Sends requests with a `fetch` function. Deadlines, limits, redirects and retries are those of the
 * transport, as with every dispatcher.
 */
export function fetchDispatcher(fetch: Fetch): OwnDispatcher {
  return {
    dispatch: (request, handler) => void run(fetch, request, handler),
    close: async (idle) => void (await idle),
  };
}

async function run(fetch: Fetch, request: HttpRequest, handler: ResponseHandler): Promise<void> {
  const stop = new AbortController();
  const controller = { abort: (reason: Error) => stop.abort(reason) };
  try {
    handler.onRequestStart(controller);
    stop.signal.throwIfAborted();
    const { origin, path, method, body } = request;
    const response = await fetch(origin + path, {
      method,
      headers: headerPairs(request.headers),
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: stop.signal,
    });
    const headers: IncomingHttpHeaders = {};
    response.headers.forEach((value, name) => {
      headers[name.toLowerCase()] = value;
    });
    // Such a body is decoded by now, and the headers are those of what was sent.
    const coding = headers['content-encoding'];
    if (/^(?:(?:x-)?gzip|deflate|br|[\s,])+$/i.test(coding ?? ''))
      delete headers['content-encoding'];
    handler.onResponseStart(controller, response.status, headers);
    let size = 0;
    // To leave the loop frees the connection.
    for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      size += part.length;
      handler.onResponseData(
        controller,
        Buffer.from(part.buffer, part.byteOffset, part.byteLength),
      );
      stop.signal.throwIfAborted();
    }
    if (coding === undefined && size !== Number(headers['content-length'] ?? size))
      throw Object.assign(new Error('cut'), { code: 'ECONNRESET' });
    handler.onResponseEnd(controller);
  } catch (error) {
    // What happened is the cause of what `fetch` throws.
    handler.onResponseError(controller, (propertyOf(error, 'cause') ?? error) as Error);
  }
}

/** Without a wish of the client, `fetch` would request the codings that it likes. */
function headerPairs(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return pairs.some(([name]) => name === 'accept-encoding')
    ? pairs
    : [...pairs, ['accept-encoding', 'identity']];
}
