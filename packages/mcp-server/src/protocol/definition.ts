/** What a request brings along, whichever transport and protocol revision it came by. */
export interface RequestContext {
  /** Aborted when the client cancels the request or goes away. */
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this request. */
  notify(method: string, params: Record<string, unknown>): void;
  /** Present when the client asked for progress. */
  readonly progressToken?: string | number;
  /** What the client says it can do. */
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
}

/** Answers one method. A thrown `RpcError` becomes the JSON-RPC error of the answer. */
export type MethodHandler = (
  params: Readonly<Record<string, unknown>>,
  context: RequestContext,
) => Promise<Record<string, unknown>>;

/** A server as plain data: what it is, what it can do and who answers which method. */
export interface ServerDefinition {
  readonly info: { readonly name: string; readonly title?: string; readonly version: string };
  readonly instructions?: string;
  readonly capabilities: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly handlers: Readonly<Record<string, MethodHandler>>;
  /** Results that depend on who asks: their cache hint says `private`. */
  readonly privateResults?: readonly string[];
  /** Told of each error that the client only sees as "internal error". */
  readonly onInternalError?: (error: unknown) => void;
}
