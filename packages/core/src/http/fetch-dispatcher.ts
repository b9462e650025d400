import type { IncomingHttpHeaders } from 'node:http';
import { codeOf } from '../errors/calls-error.ts';
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
 * Sends requests with a `fetch` function. Deadlines, limits, redirects and retries are those of the transport, as with every
 * dispatcher.
 */
export function fetchDispatcher(fetch: Fetch): OwnDispatcher {
  const running = new Set<Promise<void>>();
  return {
    dispatch(request, handler) {
      const work = run(fetch, request, handler).finally(() => running.delete(work));
      running.add(work);
    },
    async close() {
      await Promise.all(running);
    },
  };
}

async function run(fetch: Fetch, request: HttpRequest, handler: ResponseHandler): Promise<void> {
  const stop = new AbortController();
  const controller = { abort: (reason: Error) => stop.abort(reason) };
  let chunks: AsyncGenerator<Uint8Array, undefined> | undefined;
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
    chunks = chunksOf(response.body);
    const codings = String(headers['content-encoding'] ?? '');
    let expected = Number.NaN;
    let size = 0;
    let part: IteratorResult<Uint8Array> | undefined;
    if (codings !== '') {
      part = await chunks.next();
      if (isDecoded(codings, part.value)) delete headers['content-encoding'];
    } else if (headers['content-length'] !== undefined) expected = Number(headers['content-length']);
    // A browser hides where it would be redirected to.
    handler.onResponseStart(controller, response.status === 0 ? 302 : response.status, headers);
    for (part ??= await chunks.next(); !part.done; part = await chunks.next()) {
      size += part.value.length;
      handler.onResponseData(controller, asBuffer(part.value));
      stop.signal.throwIfAborted();
    }
    if (Number.isSafeInteger(expected) && size !== expected)
      throw Object.assign(new Error('cut'), { code: 'ECONNRESET' });
    handler.onResponseEnd(controller);
  } catch (error) {
    handler.onResponseError(controller, innerError(error));
  } finally {
    // Frees the connection when the body was not read to its end.
    chunks?.return(undefined).catch(() => {});
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

async function* chunksOf(body: object | null): AsyncGenerator<Uint8Array, undefined> {
  if (body !== null) yield* body as AsyncIterable<Uint8Array>;
  return undefined;
}

const asBuffer = (chunk: Uint8Array) => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);

/**
 * Platforms decode bodies and leave the header as it was. They differ in which codings they know, so the beginning of the body
 * decides where it can; brotli has no mark, but every platform decodes it.
 */
function isDecoded(codings: string, start: Uint8Array | undefined): boolean {
  if (!/^(?:(?:x-)?gzip|deflate|br|[\s,])+$/i.test(codings)) return false;
  const [first, second] = start ?? [];
  return !((first === 0x1f && second === 0x8b) || (first === 0x78 && !/br/i.test(codings)));
}

/** `fetch` wraps what happened. */
function innerError(error: unknown): Error {
  const isWrapped = error !== null && typeof error === 'object' && 'cause' in error;
  const thrown = isWrapped && typeof error.cause === 'object' && error.cause !== null ? error.cause : error;
  if (thrown instanceof Error) return thrown;
  return Object.assign(new Error('what was thrown is not an error'), { code: codeOf(thrown) });
}
