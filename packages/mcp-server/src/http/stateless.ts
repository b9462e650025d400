import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  errorResponse,
  idOf,
  isObject,
  isRequest,
  RpcError,
  type RpcRequest,
  rpcCodes,
  toRpcFailure,
} from '../protocol/messages.ts';
import type { ProtocolServer } from '../protocol/sdk-server.ts';
import { checkMeta, checkVersion, findHandler, handleStateless, metaKeys } from '../protocol/stateless.ts';
import { openReply, sendJson } from './json.ts';

/** Methods whose requests repeat the name of what they use in a header. */
const namedMethods = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** HTTP status by error code. Other errors have 400 before a handler runs, and 200 after. */
const statuses = new Map<number, number>([
  [rpcCodes.methodNotFound, 404],
  [rpcCodes.missingClientCapability, 400],
]);

/** Handles a POST of the stateless revision. */
export async function serveStateless(
  server: ProtocolServer,
  message: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isRequest(message)) {
    // The only notification that clients send is a cancellation, and over HTTP they cancel by disconnecting.
    if (isObject(message) && typeof message.method === 'string' && !('id' in message)) {
      response.writeHead(202).end();
      return;
    }
    const error = {
      code: rpcCodes.invalidRequest,
      message: 'Invalid Request: expected one JSON-RPC request.',
    };
    sendJson(response, 400, errorResponse(idOf(message), error));
    return;
  }
  let meta: Record<string, unknown>;
  try {
    meta = checkMeta(message);
    checkHeaders(message, meta, request);
    checkVersion(meta);
    checkNames(message, request);
    findHandler(server.definition, message.method);
  } catch (error) {
    const failure = toRpcFailure(error, server.definition.onInternalError);
    sendJson(response, statuses.get(failure.code) ?? 400, errorResponse(message.id, failure));
    return;
  }
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  const reply = openReply(
    response,
    meta.progressToken !== undefined || meta[metaKeys.logLevel] !== undefined,
  );
  const result = await handleStateless(server.definition, message, {
    signal: controller.signal,
    notify: (method, params) => reply.notify({ jsonrpc: '2.0', method, params }),
  });
  reply.finish(result, statuses.get(result.error?.code ?? 0) ?? 200);
}

function mismatch(name: string): RpcError {
  const text = `Header mismatch: ${name} is missing or differs from the request body.`;
  return new RpcError(rpcCodes.headerMismatch, text);
}

function checkHeaders(message: RpcRequest, meta: Record<string, unknown>, request: IncomingMessage): void {
  const { headers } = request;
  if (headers['mcp-protocol-version'] !== meta[metaKeys.protocolVersion]) {
    throw mismatch('MCP-Protocol-Version');
  }
  if (headers['mcp-method'] !== message.method) throw mismatch('Mcp-Method');
}

function checkNames(message: RpcRequest, request: IncomingMessage): void {
  if (!namedMethods.has(message.method)) return;
  const name = message.method === 'resources/read' ? message.params?.uri : message.params?.name;
  const header = request.headers['mcp-name'];
  if (typeof header !== 'string' || decodeHeader(header) !== name) throw mismatch('Mcp-Name');
}

/** Decodes a header value. One that is not plain ASCII is sent as `=?base64?...?=`. */
function decodeHeader(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) return undefined;
  return Buffer.from(encoded, 'base64').toString('utf8');
}
