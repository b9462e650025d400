// What the transport and its dispatchers say to each other. The types are our own, so that every version of undici fits and none of
// its types is public.
import type { IncomingHttpHeaders } from 'node:http';

/** One request as it is sent. */
export interface HttpRequest {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** The method. */
  readonly method: 'GET' | 'POST';
  /** A flat list: name, value, name, value. */
  readonly headers: string[];
  /** The body of a POST. */
  readonly body?: string;
}

/** Stops a request. */
export interface DispatchController {
  /** Ends the request and its connection. */
  abort(reason: Error): void;
}

/** Hears of the parts of one response, with the methods of undici 7 and 8. */
export interface ResponseHandler {
  /** The request is sent. */
  onRequestStart(controller: DispatchController): void;
  /** Status and headers have arrived. */
  onResponseStart(controller: DispatchController, status: number, headers: IncomingHttpHeaders): void;
  /** A part of the body has arrived. */
  onResponseData(controller: DispatchController, chunk: Buffer): void;
  /** The response is complete. */
  onResponseEnd(controller: DispatchController): void;
  /** There will be no complete response. */
  onResponseError(controller: DispatchController, error: Error): void;
}

/** The same with the methods of undici 6, too. */
export interface DispatchHandler extends ResponseHandler {
  /** See `onRequestStart`. */
  onConnect(abort: (reason?: Error) => void): void;
  /** See `onResponseStart`. The headers are a flat list of names and values. */
  onHeaders(status: number, headers: Buffer[]): boolean;
  /** See `onResponseData`. */
  onData(chunk: Buffer): boolean;
  /** See `onResponseEnd`. */
  onComplete(): void;
  /** See `onResponseError`. */
  onError(error: Error): void;
}

/** What sends requests: a dispatcher of undici 6, 7 or 8 (an agent, a proxy agent, a mock agent), or anything that works alike. */
export interface RequestDispatcher {
  /** Sends a request and passes the parts of its response to the handler. */
  dispatch(request: HttpRequest, handler: DispatchHandler): unknown;
}

/** A dispatcher that the client has opened and closes. */
export interface OwnDispatcher extends RequestDispatcher {
  close(): Promise<void>;
}

/** Adds the methods of undici 6. Each version calls its own and ignores the others. */
export function forAllVersions(handler: ResponseHandler): DispatchHandler {
  let controller: DispatchController = { abort() {} };
  return {
    ...handler,
    onConnect(abort) {
      controller = { abort };
      handler.onRequestStart(controller);
    },
    onHeaders(status, raw) {
      handler.onResponseStart(controller, status, headersOf(raw));
      return true;
    },
    onData(chunk) {
      handler.onResponseData(controller, chunk);
      return true;
    },
    onComplete: () => handler.onResponseEnd(controller),
    onError: (error) => handler.onResponseError(controller, error),
  };
}

/** Headers from a flat list of names and values. */
function headersOf(raw: readonly Buffer[]): IncomingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = String(raw[at]).toLowerCase();
    const value = String(raw[at + 1]);
    const earlier = headers[name];
    headers[name] = earlier === undefined ? value : [earlier, value].flat();
  }
  return headers;
}
