import type { IncomingMessage, ServerResponse } from 'node:http';
import { RpcError, rpcCodes, toRpcError } from '../protocol/errors.ts';
import type { Front } from '../protocol/front.ts';
import { errorResponse, idOf, isObject, isRequest, type RpcRequest } from '../protocol/messages.ts';
import { metaKeys } from '../protocol/revision.ts';
import { answerStateless, checkMeta, checkVersion, findHandler } from '../protocol/stateless.ts';
import { openReply, sendJson } from './reply.ts';

const named = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Statuses of errors found before a handler runs. Errors of the handler itself come with 200, but for one. */
const statuses = new Map<number, number>([
  [rpcCodes.methodNotFound, 404],
  [rpcCodes.missingClientCapability, 400],
]);

/** Answers a POST of the stateless revision. */
export async function serveStateless(
  front: Front,
  message: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isRequest(message)) {
    // The only notification clients have is a cancellation, and over HTTP hanging up says that.
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
  try {
    const meta = checkMeta(message);
    checkHeaders(message, meta, request);
    checkVersion(meta);
    checkNames(message, request);
    findHandler(front.definition, message.method);
  } catch (error) {
    const answer = toRpcError(error, front.definition.onInternalError);
    sendJson(response, statuses.get(answer.code) ?? 400, errorResponse(message.id, answer));
    return;
  }
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  const meta = message.params?._meta as Record<string, unknown>;
  const reply = openReply(
    response,
    meta.progressToken !== undefined || meta[metaKeys.logLevel] !== undefined,
  );
  const answer = await answerStateless(front.definition, message, {
    signal: controller.signal,
    notify: (method, params) => reply.notify({ jsonrpc: '2.0', method, params }),
  });
  reply.finish(answer, statuses.get(answer.error?.code ?? 0) ?? 200);
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
  if (!named.has(message.method)) return;
  const name = message.method === 'resources/read' ? message.params?.uri : message.params?.name;
  const header = request.headers['mcp-name'];
  if (typeof header !== 'string' || decodeHeader(header) !== name) throw mismatch('Mcp-Name');
}

/** Header values that are not plain ASCII come as `=?base64?...?=`. */
function decodeHeader(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) return undefined;
  return Buffer.from(encoded, 'base64').toString('utf8');
}
