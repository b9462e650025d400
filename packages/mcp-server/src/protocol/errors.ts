/** JSON-RPC and MCP error codes this server answers with. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Legacy revisions only; the 2026-07-28 revision says `invalidParams` instead. */
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

/** The error member of a JSON-RPC answer. An unknown error is told to `report`, never to the client. */
export function toRpcError(
  error: unknown,
  report?: (error: unknown) => void,
): { code: number; message: string; data?: unknown } {
  if (error instanceof RpcError) {
    return {
      code: error.code,
      message: error.message,
      ...(error.data === undefined ? {} : { data: error.data }),
    };
  }
  report?.(error);
  return {
    code: rpcCodes.internalError,
    message: 'Internal error. The server log on stderr has the details.',
  };
}
