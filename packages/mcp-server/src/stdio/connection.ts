import { createLineReader } from '@call-attribution/node-stream/files';
import type { JSONRPCMessage, McpServerFactory, Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { errorResponse, idOf, messageOf, type RequestId, rpcCodes } from '../protocol/messages.ts';
import type { StdioConnection, StdioStreams } from './streams.ts';

/** Longest line accepted from a client; a longer one is refused and logged. */
const maxLineBytes = 4 * 1024 * 1024;

/** Serves one client over lines of JSON: its first message decides which family of revisions it speaks. */
export function connectStdio(
  factory: McpServerFactory,
  streams: StdioStreams,
  graceMs = 5000,
): StdioConnection {
  const lines = new Lines(streams, graceMs);
  // The messages of the SDK's errors quote what the client sent, which a log must not.
  const onerror = ({ name }: Error): void => streams.log(`A message of the client was not used (${name}).`);
  const served = serveStdio(factory, { transport: lines, onerror });
  return { closed: lines.closed, close: () => void served.close() };
}

/**
 * Lines of JSON. The transport of the SDK is silent about a line that it cannot read, ends with one that is too long, and drops
 * the calls that run when the input ends.
 */
class Lines implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly closed: Promise<void>;
  readonly #streams: StdioStreams;
  readonly #graceMs: number;
  /** Requests without a response so far. */
  readonly #open = new Set<RequestId>();
  #finish: () => void = () => undefined;
  #hasEnded = false;
  readonly #onData: (chunk: Uint8Array) => void;

  constructor(streams: StdioStreams, graceMs: number) {
    this.#streams = streams;
    this.#graceMs = graceMs;
    this.closed = new Promise((resolve) => {
      this.#finish = resolve;
    });
    const reader = createLineReader((line) => this.#take(line.toString()), {
      maxBytes: maxLineBytes,
      onTooLong: (first, last) => this.#refuseLong(first, last),
    });
    this.#onData = (chunk) => reader.push(chunk);
  }

  async start(): Promise<void> {
    const { input } = this.#streams;
    input.on('data', this.#onData);
    input.once('end', () => this.#end());
    input.once('error', () => void this.close());
    input.once('close', () => this.#end());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(message);
    if (!('method' in message) && message.id !== undefined) this.#open.delete(message.id);
    this.#settle();
  }

  async close(): Promise<void> {
    this.#streams.input.off('data', this.#onData);
    // An input that is still read keeps the process alive until its host closes it.
    this.#streams.input.pause();
    this.#finish();
    this.onclose?.();
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.#refuse(null, rpcCodes.parseError, 'Parse error: the line is not valid JSON.');
      return;
    }
    const message = messageOf(value);
    if (message === undefined) {
      const text = 'Invalid Request: expected one JSON-RPC 2.0 request or notification per line.';
      this.#refuse(idOf(value), rpcCodes.invalidRequest, text);
      return;
    }
    if ('method' in message && 'id' in message) this.#open.add(message.id);
    this.onmessage?.(message);
    if ('method' in message && message.method === 'notifications/cancelled') {
      // A cancelled request has no response.
      const id = message.params?.requestId;
      if (typeof id === 'string' || typeof id === 'number') this.#open.delete(id);
      this.#settle();
    }
  }

  #refuseLong(first: Buffer, last: Buffer): void {
    const text = `Invalid Request: a line may have at most ${maxLineBytes} bytes.`;
    this.#refuse(idOfLine(first, last), rpcCodes.invalidRequest, text);
    this.#streams.log(`A line of more than ${maxLineBytes} bytes was refused.`);
  }

  #refuse(id: RequestId | null, code: number, message: string): void {
    this.#write(errorResponse(id, { code, message }));
  }

  #write(message: object): void {
    this.#streams.write(`${JSON.stringify(message)}\n`);
  }

  /** No more lines come. A host that has left may not read the responses: calls that still run after a while are aborted. */
  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    setTimeout(() => void this.close(), this.#graceMs).unref();
    this.#settle();
  }

  #settle(): void {
    if (this.#hasEnded && this.#open.size === 0) void this.close();
  }
}

/** The id of a request that was not read, from where clients write it: at the beginning or the end of the line. */
function idOfLine(first: Buffer, last: Buffer): RequestId | null {
  const id = '"id"\\s*:\\s*("[^"\\\\]{1,100}"|-?\\d{1,15})';
  const found =
    new RegExp(`${id}\\s*\\}\\s*$`).exec(last.toString()) ??
    new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2.0"\\s*,\\s*)?${id}`).exec(first.toString());
  return found?.[1] === undefined ? null : idOf({ id: JSON.parse(found[1]) });
}
