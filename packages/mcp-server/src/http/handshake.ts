import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { rpcCodes } from '../protocol/errors.ts';
import type { Front } from '../protocol/front.ts';
import { idOf, isNotification, isObject, isRequest, type RpcRequest } from '../protocol/messages.ts';
import { openReply, sendError, sendJson } from './reply.ts';

/** Most messages in one batch, which only the 2025-03-26 revision has. */
const maxBatch = 50;

/**
 * Answers a POST of the revisions that begin with `initialize`, without a session: each request gets a new SDK
 * server, joined to it in memory. That spares the detour over web streams that the SDK's own HTTP transport takes.
 */
export async function serveHandshake(
  front: Front,
  body: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refuse = (status: number, message: string): void =>
    sendError(response, status, { code: rpcCodes.invalidRequest, message }, idOf(body));
  const accept = request.headers.accept ?? '';
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) {
    refuse(406, 'Not Acceptable: Accept must list application/json and text/event-stream.');
    return;
  }
  const version = request.headers['mcp-protocol-version'];
  if (typeof version === 'string' && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    refuse(
      400,
      `Bad Request: unsupported MCP-Protocol-Version. Known: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
    );
    return;
  }
  const messages = Array.isArray(body) ? body : [body];
  if (messages.length === 0 || messages.length > maxBatch || !messages.every(isMessage)) {
    refuse(400, `Invalid Request: expected a JSON-RPC 2.0 message, or at most ${maxBatch} in a batch.`);
    return;
  }
  const requests = messages.filter(isRequest);
  if (requests.length === 0) {
    response.writeHead(202).end();
  } else if (Array.isArray(body)) {
    // Each request of the batch listens for the client to hang up.
    response.setMaxListeners(maxBatch + 10);
    const answers = await Promise.all(requests.map((each) => answerOne(front, each, response)));
    if (!response.destroyed) sendJson(response, 200, answers);
  } else {
    const only = requests[0] as RpcRequest;
    const meta = only.params?._meta;
    const reply = openReply(response, isObject(meta) && meta.progressToken !== undefined);
    const answer = await answerOne(front, only, response, reply.notify);
    if (answer) reply.finish(answer);
  }
}

function isMessage(value: unknown): boolean {
  return (
    isRequest(value) || isNotification(value) || (isObject(value) && value.jsonrpc === '2.0' && 'id' in value)
  );
}

/** Runs one request through a new SDK server. Hanging up closes that server, which aborts the call. */
async function answerOne(
  front: Front,
  request: RpcRequest,
  response: ServerResponse,
  notify?: (message: object) => void,
): Promise<object | undefined> {
  const server = front.connect();
  return new Promise((resolve, reject) => {
    const onClose = (): void => {
      void server.close();
      resolve(undefined);
    };
    const transport: Transport = {
      async start() {},
      async close() {
        transport.onclose?.();
      },
      async send(message) {
        if ('method' in message) {
          notify?.(message);
          return;
        }
        response.off('close', onClose);
        resolve(message);
        void server.close();
      },
    };
    response.once('close', onClose);
    server.connect(transport).then(() => transport.onmessage?.(request as JSONRPCMessage), reject);
  });
}
