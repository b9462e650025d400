/** The id of a JSON-RPC request. */
export type RequestId = string | number;

/** A JSON-RPC request: a method, and an id that wants an answer. */
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

/** The answer to a request. */
export interface RpcResponse {
  readonly jsonrpc: '2.0';
  readonly id: RequestId | null;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** True for a JSON object (no array, no null). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a JSON-RPC request with a usable id. */
export function isRequest(value: unknown): value is RpcRequest {
  return (
    isObject(value) &&
    value.jsonrpc === '2.0' &&
    typeof value.method === 'string' &&
    (typeof value.id === 'string' || Number.isInteger(value.id)) &&
    (value.params === undefined || isObject(value.params))
  );
}

/** True for a JSON-RPC notification. */
export function isNotification(value: unknown): value is RpcNotification {
  return (
    isObject(value) &&
    value.jsonrpc === '2.0' &&
    typeof value.method === 'string' &&
    !('id' in value) &&
    (value.params === undefined || isObject(value.params))
  );
}

/** The id to answer a malformed message with: its own when it has a readable one, else null. */
export function idOf(value: unknown): RequestId | null {
  if (!isObject(value)) return null;
  return typeof value.id === 'string' || Number.isInteger(value.id) ? (value.id as RequestId) : null;
}

/** An error answer. */
export function errorResponse(
  id: RequestId | null,
  error: { code: number; message: string; data?: unknown },
): RpcResponse {
  return { jsonrpc: '2.0', id, error };
}
