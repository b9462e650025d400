import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server';

// The messages that reach the SDK, and the errors of MCP.

/** The id of a JSON-RPC request. */
export type RequestId = string | number;

/** The error member of a JSON-RPC response. */
export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
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
  missingClientCapability: -32021,
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

/** The error that a client sees. An unknown error goes to `report`, never to the client. */
export function toRpcError(error: unknown, report?: (error: unknown) => void): RpcError {
  if (error instanceof RpcError) return error;
  report?.(error);
  return new RpcError(rpcCodes.internalError, 'Internal error. The server log on stderr has the details.');
}

/** True for a JSON object (not an array, not null). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The message that a value is, as the SDK reads it; undefined for anything else. The SDK drops what it cannot read without a
 * response, and its client would wait for one until it gives up.
 */
export function messageOf(value: unknown): JSONRPCMessage | undefined {
  // A response has no method: the SDK would take one that has for a request.
  if (isJSONRPCRequest(value) || isJSONRPCNotification(value)) return value;
  return isJSONRPCResultResponse(value) || isJSONRPCErrorResponse(value) ? value : undefined;
}

/** The id for the error response to a malformed message: its own when that is readable, else null. */
export function idOf(value: unknown): RequestId | null {
  const id = isObject(value) ? value.id : undefined;
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : null;
}

/** An error response. */
export function errorResponse(id: RequestId | null, error: RpcFailure): object {
  return { jsonrpc: '2.0', id, error };
}
