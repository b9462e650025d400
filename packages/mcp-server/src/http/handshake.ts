import type { IncomingMessage, ServerResponse } from 'node:http';
import { itemAt } from '@call-attribution/core/errors';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import {
  idOf,
  isNotification,
  isObject,
  isRequest,
  type RpcRequest,
  rpcCodes,
} from '../protocol/messages.ts';
import type { ProtocolServer } from '../protocol/sdk-server.ts';
import { openReply, sendError, sendJson } from './json.ts';

/** Most messages in one batch. Only the 2025-03-26 revision has batches. */
const maxBatch = 50;
/** Requests of a batch that run at a time. */
const atOnce = 4;

/**
 * Handles a POST of the revisions that begin with `initialize`, without a session: each request gets a new SDK
 * server, connected in memory. This avoids the web streams of the SDK's own HTTP transport.
 */
export async function serveHandshake(
  server: ProtocolServer,
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
      `Bad Request: unsupported MCP-Protocol-Version. Supported: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
    );
    return;
  }
  const messages = Array.isArray(body) ? body : [body];
  if (messages.length === 0 || messages.length > maxBatch || !messages.every(isMessage)) {
    refuse(400, `Invalid Request: expected a JSON-RPC 2.0 message, or a batch of at most ${maxBatch}.`);
    return;
  }
  const requests = messages.filter(isRequest);
  const [only] = requests;
  if (only === undefined) {
    response.writeHead(202).end();
  } else if (Array.isArray(body)) {
    // Each request of the batch listens for the client to disconnect.
    response.setMaxListeners(maxBatch + 10);
    const results = await inTurns(requests, atOnce, (each) => handleOne(server, each, response));
    if (!response.destroyed) sendJson(response, 200, results);
  } else {
    const meta = only.params?._meta;
    const reply = openReply(response, isObject(meta) && meta.progressToken !== undefined);
    const result = await handleOne(server, only, response, reply.notify);
    if (result) reply.finish(result);
  }
}

function isMessage(value: unknown): boolean {
  return (
    isRequest(value) || isNotification(value) || (isObject(value) && value.jsonrpc === '2.0' && 'id' in value)
  );
}

/** Runs one request through a new SDK server. When the client disconnects, the server closes, which aborts the call. */
async function handleOne(
  server: ProtocolServer,
  request: RpcRequest,
  response: ServerResponse,
  notify?: (message: object) => void,
): Promise<object | undefined> {
  const connection = server.connect();
  return new Promise((resolve, reject) => {
    const onClose = (): void => {
      void connection.close();
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
        void connection.close();
      },
    };
    response.once('close', onClose);
    connection.connect(transport).then(() => transport.onmessage?.(request as JSONRPCMessage), reject);
  });
}

/** Runs a task for each item, few at a time; the results are in the order of the items. */
async function inTurns<T, R>(items: readonly T[], most: number, task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++)
      results[index] = await task(itemAt(items, index));
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work));
  return results;
}
