import type { StatusSource } from '@call-attribution/node-stream/status';

/** What a request brings along, whichever transport and protocol revision it came by. */
export interface RequestContext {
  /** Aborted when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this request. */
  notify(method: string, params: Record<string, unknown>): void;
  /** Present when the client requested progress. */
  readonly progressToken?: string | number;
  /** The capabilities that the client declares. */
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
}

/** Handles one method. A thrown `RpcError` becomes the error of the JSON-RPC response. */
export type MethodHandler = (
  params: Readonly<Record<string, unknown>>,
  context: RequestContext,
) => Promise<Record<string, unknown>>;

/** A server as plain data: what it is, what it can do and a handler for each method. */
export interface ServerDefinition {
  /** Name and version, as clients see them. */
  readonly info: { readonly name: string; readonly title?: string; readonly version: string };
  /** What hosts pass on to the model about this server. */
  readonly instructions?: string;
  /** The capabilities of MCP that the server has. */
  readonly capabilities: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The handler of each method, by its name. */
  readonly handlers: Readonly<Record<string, MethodHandler>>;
  /** Methods whose results depend on the account: their cache hint says `private`. */
  readonly privateResults?: readonly string[];
  /** Gets each error that the client only sees as "internal error". */
  readonly onInternalError?: (error: unknown) => void;
  /** Health and metrics, which the HTTP endpoint serves. */
  readonly status?: StatusSource;
}
