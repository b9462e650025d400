// JSON-RPC messages and the errors of MCP.

/** The id of a JSON-RPC request. */
export type RequestId = string | number;

/** A JSON-RPC request: a method, and an id for the response. */
export interface RpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A JSON-RPC notification: a method without an id. */
export interface RpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The error member of a JSON-RPC response. */
export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The response to a request. */
export interface RpcResponse {
  readonly jsonrpc: '2.0';
  readonly id: RequestId | null;
  readonly result?: Record<string, unknown>;
  readonly error?: RpcFailure;
}

/** The JSON-RPC and MCP error codes of this server. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** What the request needs failed, such as the API. */
  serverError: -32000,
  /** Older revisions only; 2026-07-28 uses `invalidParams` instead. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** An error that reaches the client as a JSON-RPC error with this code. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** What a client sees of an error that is not its own. */
export const internalErrorText = 'Internal error. The server log on stderr has the details.';

/** The error member for an error. An unknown error goes to `report`, never to the client. */
export function toRpcFailure(error: unknown, report?: (error: unknown) => void): RpcFailure {
  if (error instanceof RpcError) {
    const { code, message, data } = error;
    return { code, message, ...(data === undefined ? {} : { data }) };
  }
  report?.(error);
  return {
    code: rpcCodes.internalError,
    message: internalErrorText,
  };
}

/** True for a JSON object (not an array, not null). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a JSON-RPC request with a usable id. */
export function isRequest(value: unknown): value is RpcRequest {
  return hasMethod(value) && isId(value.id);
}

/** True for a JSON-RPC notification. */
export function isNotification(value: unknown): value is RpcNotification {
  return hasMethod(value) && !('id' in value);
}

function hasMethod(value: unknown): value is Record<string, unknown> {
  return (
    isObject(value) &&
    value.jsonrpc === '2.0' &&
    typeof value.method === 'string' &&
    (value.params === undefined || isObject(value.params))
  );
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isInteger(value);
}

/** The id for the error response to a malformed message: its own when that is readable, else null. */
export function idOf(value: unknown): RequestId | null {
  return isObject(value) && isId(value.id) ? value.id : null;
}

/** An error response. */
export function errorResponse(id: RequestId | null, error: RpcFailure): RpcResponse {
  return { jsonrpc: '2.0', id, error };
}
