import { propertyOf } from '@call-attribution/core/errors';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  isSpecType,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';

// What clients send, before the SDK sees it: the SDK drops what is no message, and prints the
// schemas of what has not their form.

/** Why a message is refused. */
export interface Refusal {
  /** The id of the request, null where it cannot be read. */
  readonly id: string | number | null;
  readonly code: number;
  readonly message: string;
}

/** The parameters that requests must have; the handlers read what is in them. */
const forms: Readonly<Record<string, (value: unknown) => boolean>> = {
  initialize: (value) => hasEnvelope(value) || isSpecType.InitializeRequest(value),
  'tools/list': isSpecType.ListToolsRequest,
  'tools/call': isSpecType.CallToolRequest,
  'resources/list': isSpecType.ListResourcesRequest,
  'resources/templates/list': isSpecType.ListResourceTemplatesRequest,
  // The SDK quotes a URI whole.
  'resources/read': (value) =>
    isSpecType.ReadResourceRequest(value) && value.params.uri.length <= 500,
};

/** A request of 2026-07-28, which has no handshake. */
const hasEnvelope = (value: unknown): boolean =>
  propertyOf(propertyOf(propertyOf(value, 'params'), '_meta'), PROTOCOL_VERSION_META_KEY) !==
  undefined;

/** The message that a value is, or why it is refused. */
export function readMessage(
  value: unknown,
): { readonly message: JSONRPCMessage } | { readonly refusal: Refusal } {
  const refuse = (code: number, message: string) => ({
    refusal: { id: idOf(value), code, message },
  });

  // A response has no method: the SDK would take one that has for a request.
  if (
    isJSONRPCNotification(value) ||
    isJSONRPCResultResponse(value) ||
    isJSONRPCErrorResponse(value)
  )
    return { message: value };

  if (!isJSONRPCRequest(value))
    return refuse(
      ProtocolErrorCode.InvalidRequest,
      'Invalid Request: expected one JSON-RPC 2.0 message.',
    );

  const { method, params } = value;
  let request = value;
  if (method === 'tools/call' && params !== undefined) {
    // Some hosts send null or a string of JSON.
    const { arguments: given, ...others } = params;
    const args = typeof given === 'string' ? parseJson(given) : (given ?? {});
    if (!isObject(args))
      return refuse(ProtocolErrorCode.InvalidParams, 'The arguments must be one JSON object.');
    request = { ...value, params: { ...others, arguments: args } };
  }

  if (Object.hasOwn(forms, method) && !forms[method]?.(request))
    return refuse(
      ProtocolErrorCode.InvalidParams,
      'Invalid params: they do not have the form that the protocol names for this method.',
    );

  return { message: request };
}

/** True for a JSON object (not an array, not null). */
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The id for the error response to a malformed message: its own when that is readable, else null.
 */
export function idOf(value: unknown): string | number | null {
  const id = isObject(value) ? value.id : undefined;
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : null;
}

/** An error response. */
export const errorResponse = ({ id, code, message }: Refusal) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

/** The value of a JSON string, or the string itself. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
