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
export function connectStdio(server: ProtocolServer, streams: StdioStreams, graceMs = 5000): StdioConnection {
  const client = new StdioClient(server, streams);
  const reader = createLineReader((line) => client.line(line), {
    maxBytes: maxLineBytes,
    onTooLong: (first, last) => client.refuseLong(first, last),
  });
  const onData = (chunk: Uint8Array): void => reader.push(chunk);
  const close = (): void => {
    streams.input.off('data', onData);
    // An input that is still read keeps the process alive until its host closes it.
    streams.input.pause();
    client.close();
  };
  const onEnd = (): void => client.end(close, graceMs);
  streams.input.on('data', onData);
  streams.input.once('end', onEnd);
  streams.input.once('error', close);
  streams.input.once('close', onEnd);
  return { closed: client.closed, close };
}

/** One client: the requests that are answered at the moment, and the SDK server of the older revisions. */
class StdioClient {
  readonly closed: Promise<void>;
  readonly #definition: ProtocolServer['definition'];
  readonly #streams: StdioStreams;
  readonly #running = new Map<RequestId, AbortController>();
  readonly #legacyIds = new Set<RequestId>();
  readonly #server: ReturnType<ProtocolServer['connect']>;
  readonly #transport: Transport;
  readonly #ready: Promise<void>;
  #finish: () => void = () => undefined;
  /** Called when everything was answered after the end of the input. */
  #onSettled: (() => void) | null = null;

  constructor({ definition, connect }: ProtocolServer, streams: StdioStreams) {
    this.#definition = definition;
    this.#streams = streams;
    this.closed = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    const transport: Transport = {
      async start() {},
      send: async (message) => this.#sendLegacy(message),
      async close() {
        transport.onclose?.();
      },
    };
    this.#transport = transport;
    this.#server = connect();
    this.#server.onerror = (error) => streams.log(error.message);
    this.#ready = this.#server.connect(transport);
  }

  /** Takes a line of the input. */
  line(line: string): void {
    if (line.trim() !== '') void this.#ready.then(() => this.#receive(line));
  }

  refuseLong(first: Buffer, last: Buffer): void {
    const message = `Invalid Request: a line may have at most ${maxLineBytes} bytes.`;
    this.#send(errorResponse(idOfLine(first, last), { code: rpcCodes.invalidRequest, message }));
    this.#streams.log(`A line of more than ${maxLineBytes} bytes was refused.`);
  }

  /** No more lines come: calls `close` when all requests were answered. */
  end(close: () => void, graceMs: number): void {
    void this.#ready.then(() => {
      this.#onSettled = close;
      this.#settle();
      // A host that has left may not read the responses: calls that are still running after a while are aborted.
      setTimeout(close, graceMs).unref();
    });
  }

  close(): void {
    for (const controller of this.#running.values()) controller.abort();
    void this.#server.close();
    this.#finish();
  }

  #send(message: object): void {
    this.#streams.write(`${JSON.stringify(message)}\n`);
  }

  #sendLegacy(message: JSONRPCMessage): void {
    this.#send(message);
    if (!('method' in message) && message.id !== undefined) this.#legacyIds.delete(message.id);
    this.#settle();
  }

  #settle(): void {
    if (this.#running.size === 0 && this.#legacyIds.size === 0) this.#onSettled?.();
  }

  async #respond(request: RpcRequest): Promise<void> {
    const controller = new AbortController();
    this.#running.set(request.id, controller);
    const response = await handleStateless(this.#definition, request, {
      signal: controller.signal,
      notify: (method, params) => {
        if (!controller.signal.aborted) this.#send({ jsonrpc: '2.0', method, params });
      },
    });
    this.#running.delete(request.id);
    if (!controller.signal.aborted) this.#send(response);
    this.#settle();
  }

  #receive(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      const text = 'Parse error: the line is not valid JSON.';
      this.#send(errorResponse(null, { code: rpcCodes.parseError, message: text }));
      return;
    }
    if (isRequest(message) && isStatelessMessage(message)) {
      void this.#respond(message);
    } else if (isRequest(message)) {
      this.#legacyIds.add(message.id);
      this.#transport.onmessage?.(message as JSONRPCMessage);
    } else if (isNotification(message)) {
      this.#cancel(message.method, message.params);
      this.#transport.onmessage?.(message as JSONRPCMessage);
    } else if (isObject(message) && ('result' in message || 'error' in message)) {
      // A response. This server sends no requests to its clients, so there is nothing to match it with.
    } else {
      const text = 'Invalid Request: expected one JSON-RPC 2.0 request or notification per line.';
      this.#send(errorResponse(idOf(message), { code: rpcCodes.invalidRequest, message: text }));
    }
  }

  #cancel(method: string, params: Readonly<Record<string, unknown>> | undefined): void {
    if (method !== 'notifications/cancelled') return;
    const id = params?.requestId;
    if (typeof id !== 'string' && typeof id !== 'number') return;
    this.#running.get(id)?.abort();
    // The SDK's server sends no response to a cancelled request.
    this.#legacyIds.delete(id);
    this.#settle();
  }
}

/** The id of a request that was not read, from where clients write it: at the beginning or the end of the line. */
function idOfLine(first: Buffer, last: Buffer): RequestId | null {
  const id = '"id"\\s*:\\s*("[^"\\\\]{1,100}"|-?\\d{1,15})';
  const found =
    new RegExp(`${id}\\s*\\}\\s*$`).exec(last.toString()) ??
    new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2.0"\\s*,\\s*)?${id}`).exec(first.toString());
  return found?.[1] === undefined ? null : (JSON.parse(found[1]) as RequestId);
}
