// What the transport and its dispatchers say to each other. The types are our own, so that every
// version of undici fits and none of its types is public.
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

/** One complete response. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Stops a request. */
export interface DispatchController {
  /** Ends the request and its connection. */
  abort(reason: Error): void;
}

/** Takes the parts of one response, as undici 7 and 8 pass them. */
export interface ResponseHandler {
  /** The request is sent. */
  onRequestStart(controller: DispatchController): void;
  /** Status and headers have arrived. */
  onResponseStart(
    controller: DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void;
  /** A part of the body has arrived. */
  onResponseData(controller: DispatchController, chunk: Buffer): void;
  /** The response is complete. */
  onResponseEnd(controller: DispatchController): void;
  /** There will be no complete response. */
  onResponseError(controller: DispatchController, error: Error): void;
}

/**
 * What sends requests: a dispatcher of undici 7 or 8 (an agent, a proxy agent, a mock agent), or
 * anything that works alike.
 */
export interface RequestDispatcher {
  /** Sends a request and passes the parts of its response to the handler. */
  dispatch(request: HttpRequest, handler: ResponseHandler): unknown;
}

/** A dispatcher that the client has opened and closes. */
export interface OwnDispatcher extends RequestDispatcher {
  /** Takes no more requests, and ends once `idle` tells that nobody waits for a response. */
  close(idle: Promise<unknown>): Promise<void>;
}

/**
 * Closes an agent of undici. One that still connects, such as to a name that hangs, would not close
 * by itself.
 */
export async function closeAgent(
  agent: { close(): Promise<void>; destroy(): Promise<void> },
  idle: Promise<unknown>,
): Promise<void> {
  await Promise.race([agent.close(), idle]);
  await agent.destroy();
}
