import type { Readable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { rpcCodes } from '../protocol/errors.ts';
import type { Front } from '../protocol/front.ts';
import {
  errorResponse,
  idOf,
  isNotification,
  isObject,
  isRequest,
  type RequestId,
  type RpcRequest,
} from '../protocol/messages.ts';
import { isStatelessMessage } from '../protocol/revision.ts';
import { answerStateless } from '../protocol/stateless.ts';
import { createLineReader } from './line-reader.ts';

/** Where a stdio connection reads and writes. */
export interface StdioStreams {
  readonly input: Readable;
  /** Writes one line of JSON, line break included. */
  write(line: string): void;
  log(line: string): void;
}

/** A stdio connection. */
export interface StdioConnection {
  /** Settles when the input has ended and the calls under way are answered or given up. */
  readonly closed: Promise<void>;
  /** Aborts the calls under way and closes. */
  close(): void;
}

/**
 * Serves one client over lines of JSON. Messages of the stateless revision are answered directly; all others
 * go to one SDK server, which keeps the handshake of the older revisions.
 */
export function connectStdio(front: Front, streams: StdioStreams, graceMs = 5000): StdioConnection {
  const send = (message: object): void => streams.write(`${JSON.stringify(message)}\n`);
  const underWay = new Map<RequestId, AbortController>();
  const legacyIds = new Set<RequestId>();
  let finish: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let ended = false;

  const settle = (): void => {
    if (ended && underWay.size === 0 && legacyIds.size === 0) close();
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
  const server = front.connect();
  server.onerror = (error) => streams.log(error.message);
  const ready = server.connect(transport);

  const answer = async (request: RpcRequest): Promise<void> => {
    const controller = new AbortController();
    underWay.set(request.id, controller);
    const response = await answerStateless(front.definition, request, {
      signal: controller.signal,
      notify: (method, params) => {
        if (!controller.signal.aborted) send({ jsonrpc: '2.0', method, params });
      },
    });
    underWay.delete(request.id);
    if (!controller.signal.aborted) send(response);
    settle();
  };

  const receive = (line: string): void => {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      send(errorResponse(null, { code: rpcCodes.parseError, message: 'Parse error: the line is not JSON.' }));
      return;
    }
    if (isRequest(message) && isStatelessMessage(message)) {
      void answer(message);
    } else if (isRequest(message)) {
      legacyIds.add(message.id);
      transport.onmessage?.(message as JSONRPCMessage);
    } else if (isNotification(message)) {
      cancelled(message.method, message.params);
      transport.onmessage?.(message as JSONRPCMessage);
    } else if (isObject(message) && ('result' in message || 'error' in message)) {
      // An answer. This server asks its clients nothing, so there is nothing to match it with.
    } else {
      const text = 'Invalid Request: expected one JSON-RPC 2.0 request or notification a line.';
      send(errorResponse(idOf(message), { code: rpcCodes.invalidRequest, message: text }));
    }
  };
  const cancelled = (method: string, params: Readonly<Record<string, unknown>> | undefined): void => {
    if (method !== 'notifications/cancelled') return;
    const id = params?.requestId as RequestId;
    underWay.get(id)?.abort();
    // The SDK's server sends no answer for a cancelled request.
    legacyIds.delete(id);
    settle();
  };

  const reader = createLineReader(
    (line) => void ready.then(() => receive(line)),
    () => streams.log('A line over the size limit was dropped.'),
  );
  const onData = (chunk: Uint8Array): void => reader.push(chunk);
  const onEnd = (): void => {
    void ready.then(() => {
      ended = true;
      settle();
      // A host that left cannot read the answer: what is still running after the grace is given up.
      setTimeout(close, graceMs).unref();
    });
  };
  const close = (): void => {
    streams.input.off('data', onData);
    for (const controller of underWay.values()) controller.abort();
    void server.close();
    finish();
  };
  streams.input.on('data', onData);
  streams.input.once('end', onEnd);
  streams.input.once('error', close);
  streams.input.once('close', onEnd);
  return { closed, close };
}
