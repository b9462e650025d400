import { createLineReader } from '@call-attribution/node-stream/files';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import {
  errorResponse,
  idOf,
  isNotification,
  isObject,
  isRequest,
  type RequestId,
  type RpcRequest,
  rpcCodes,
} from '../protocol/messages.ts';
import type { ProtocolServer } from '../protocol/sdk-server.ts';
import { handleStateless, isStatelessMessage } from '../protocol/stateless.ts';
import type { StdioConnection, StdioStreams } from './streams.ts';

/** Longest line accepted from a client; a longer one is refused and logged. */
const maxLineBytes = 4 * 1024 * 1024;

/**
 * Serves one client over lines of JSON. Messages of the stateless revision are handled here; all others go to one SDK
 * server, which does the handshake of the older revisions.
 */
export function connectStdio(
  { definition, connect }: ProtocolServer,
  streams: StdioStreams,
  graceMs = 5000,
): StdioConnection {
  const send = (message: object): void => streams.write(`${JSON.stringify(message)}\n`);
  const running = new Map<RequestId, AbortController>();
  const legacyIds = new Set<RequestId>();
  let finish: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let ended = false;

  const settle = (): void => {
    if (ended && running.size === 0 && legacyIds.size === 0) close();
  };
  const transport: Transport = {
    async start() {},
    async send(message: JSONRPCMessage) {
      send(message);
      if (!('method' in message) && message.id !== undefined) legacyIds.delete(message.id);
      settle();
    },
    async close() {
      transport.onclose?.();
    },
  };
  const server = connect();
  server.onerror = (error) => streams.log(error.message);
  const ready = server.connect(transport);

  const respond = async (request: RpcRequest): Promise<void> => {
    const controller = new AbortController();
    running.set(request.id, controller);
    const response = await handleStateless(definition, request, {
      signal: controller.signal,
      notify: (method, params) => {
        if (!controller.signal.aborted) send({ jsonrpc: '2.0', method, params });
      },
    });
    running.delete(request.id);
    if (!controller.signal.aborted) send(response);
    settle();
  };

  const receive = (line: string): void => {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      send(
        errorResponse(null, {
          code: rpcCodes.parseError,
          message: 'Parse error: the line is not valid JSON.',
        }),
      );
      return;
    }
    if (isRequest(message) && isStatelessMessage(message)) {
      void respond(message);
    } else if (isRequest(message)) {
      legacyIds.add(message.id);
      transport.onmessage?.(message as JSONRPCMessage);
    } else if (isNotification(message)) {
      cancel(message.method, message.params);
      transport.onmessage?.(message as JSONRPCMessage);
    } else if (isObject(message) && ('result' in message || 'error' in message)) {
      // A response. This server sends no requests to its clients, so there is nothing to match it with.
    } else {
      const text = 'Invalid Request: expected one JSON-RPC 2.0 request or notification per line.';
      send(errorResponse(idOf(message), { code: rpcCodes.invalidRequest, message: text }));
    }
  };
  const cancel = (method: string, params: Readonly<Record<string, unknown>> | undefined): void => {
    if (method !== 'notifications/cancelled') return;
    const id = params?.requestId as RequestId;
    running.get(id)?.abort();
    // The SDK's server sends no response to a cancelled request.
    legacyIds.delete(id);
    settle();
  };

  const reader = createLineReader(
    (line) => {
      if (line.trim() !== '') void ready.then(() => receive(line));
    },
    {
      maxBytes: maxLineBytes,
      onTooLong(first, last) {
        const message = `Invalid Request: a line may have at most ${maxLineBytes} bytes.`;
        send(errorResponse(idOfLine(first, last), { code: rpcCodes.invalidRequest, message }));
        streams.log(`A line of more than ${maxLineBytes} bytes was refused.`);
      },
    },
  );
  const onData = (chunk: Uint8Array): void => reader.push(chunk);
  const onEnd = (): void => {
    void ready.then(() => {
      ended = true;
      settle();
      // A host that has left may not read the responses: calls that are still running after a while are aborted.
      setTimeout(close, graceMs).unref();
    });
  };
  const close = (): void => {
    streams.input.off('data', onData);
    // An input that is still read keeps the process alive until its host closes it.
    streams.input.pause();
    for (const controller of running.values()) controller.abort();
    void server.close();
    finish();
  };
  streams.input.on('data', onData);
  streams.input.once('end', onEnd);
  streams.input.once('error', close);
  streams.input.once('close', onEnd);
  return { closed, close };
}

/** The id of a request that was not read, from where clients write it: at the beginning or the end of the line. */
function idOfLine(first: Buffer, last: Buffer): RequestId | null {
  const id = '"id"\\s*:\\s*("[^"\\\\]{1,100}"|-?\\d{1,15})';
  const found =
    new RegExp(`${id}\\s*\\}\\s*$`).exec(last.toString()) ??
    new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2.0"\\s*,\\s*)?${id}`).exec(first.toString());
  return found?.[1] === undefined ? null : (JSON.parse(found[1]) as RequestId);
}
