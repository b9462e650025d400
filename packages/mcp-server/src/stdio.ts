import type { Readable } from 'node:stream';
import { escapeControls } from '@call-attribution/core/errors';
import type { JSONRPCMessage, McpServerFactory, Transport } from '@modelcontextprotocol/server';
import { serveStdio as serveLines } from '@modelcontextprotocol/server/stdio';
import { errorResponse, idOf, type Refusal, readMessage } from './messages.ts';
import type { CallsMcpServer } from './server.ts';

/** Where a stdio connection reads and writes. */
export interface StdioStreams {
  /** Messages from the client, one per line. */
  readonly input: Readable;
  /** Writes one line of JSON, including the line break. */
  write(line: string): void;
  /** Writes one line to the log, without a line break. */
  log(line: string): void;
}

/** A connection over stdio. */
export interface StdioConnection {
  /** Resolves when the input has ended and the running calls are finished or aborted. */
  readonly closed: Promise<void>;
  /** Aborts the running calls and closes the connection. */
  close(): void;
}

/** Longest line accepted from a client; a longer one is refused and logged. */
const maxLineBytes = 4 * 1024 * 1024;
/** Bytes of such a line in which its id is looked for, from each end. */
const edge = 256;
/**
 * A host that has left may not read the responses: calls that still run after this long are
 * aborted.
 */
const graceMs = 5000;

/**
 * Serves one client over stdio: reads stdin, writes stdout and logs to stderr, or uses the streams
 * given.
 *
 * @example
 * const connection = serveStdio(createServer(client));
 * await connection.closed;
 */
export function serveStdio(
  server: Pick<CallsMcpServer, 'connect'>,
  streams: Partial<StdioStreams> = {},
): StdioConnection {
  const {
    input = process.stdin,
    write = (line) => void process.stdout.write(line),
    log = (line) => void process.stderr.write(`${escapeControls(line)}\n`),
  } = streams;
  let finish: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const respond = (message: object): void => write(`${JSON.stringify(message)}\n`);
  const transport = linesOf({ input, write, log }, respond, finish);
  const served = serveLines(server.connect as McpServerFactory, {
    transport,
    // The messages of the SDK's errors quote what the client sent, which a log must not.
    onerror: ({ name }) => log(`A message of the client was not used (${name}).`),
  });
  return { closed, close: () => void served.close() };
}

/**
 * Lines of JSON. The transport of the SDK is silent about a line that it cannot read, ends with one
 * that is too long, and drops the calls that run when the input ends.
 */
function linesOf(
  { input, log }: StdioStreams,
  respond: (message: object) => void,
  finish: () => void,
): Transport {
  /** Requests without a response so far. */
  const open = new Set<unknown>();
  let hasEnded = false;
  const refuse = (refusal: Refusal): void => respond(errorResponse(refusal));

  const settle = (): void => {
    if (hasEnded && open.size === 0) void transport.close();
  };

  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    setTimeout(() => void transport.close(), graceMs).unref();
    settle();
  };

  const take = (line: string): void => {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      refuse({ id: null, code: -32700, message: 'Parse error: the line is not valid JSON.' });
      return;
    }

    const read = readMessage(value);
    if ('refusal' in read) {
      refuse(read.refusal);
      return;
    }

    const { message } = read;
    if ('method' in message && 'id' in message) open.add(message.id);
    transport.onmessage?.(message);

    // A cancelled request has no response.
    if ('method' in message && message.method === 'notifications/cancelled') {
      open.delete(message.params?.requestId);
      settle();
    }
  };

  /** A character stands for a byte. */
  let line = '';

  /** How a line begins that is too long. Only its end is kept. */
  let begin: string | null = null;

  const onData = (chunk: Buffer): void => {
    for (const [at, part] of chunk.toString('latin1').split('\n').entries()) {
      if (at > 0) {
        if (begin === null) take(Buffer.from(line, 'latin1').toString());
        else {
          const message = `Invalid Request: a line may have at most ${maxLineBytes} bytes.`;
          refuse({ id: idOfLine(begin, line), code: -32600, message });
          log(`A line of more than ${maxLineBytes} bytes was refused.`);
        }
        line = '';
        begin = null;
      }
      line += part;
      if (line.length <= maxLineBytes) continue;
      begin ??= line.slice(0, edge);
      line = line.slice(-edge);
    }
  };

  const transport: Transport = {
    async start() {
      input.on('data', onData);
      for (const event of ['end', 'close']) input.once(event, end);
      input.once('error', () => void transport.close());
    },
    async send(message: JSONRPCMessage) {
      respond(message);
      if (!('method' in message)) open.delete(message.id);
      settle();
    },
    async close() {
      input.off('data', onData);
      // An input that is still read keeps the process alive until its host closes it.
      input.pause();
      finish();
      transport.onclose?.();
    },
  };
  return transport;
}

/**
 * The id of a request that was not read, from where clients write it: at the beginning or the end
 * of the line.
 */
function idOfLine(first: string, last: string): string | number | null {
  const id = '"id"\\s*:\\s*("[^"\\\\]{1,100}"|-?\\d{1,15})';
  const found =
    new RegExp(`${id}\\s*\\}\\s*$`).exec(last) ??
    new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2.0"\\s*,\\s*)?${id}`).exec(first);
  return found?.[1] === undefined ? null : idOf({ id: JSON.parse(found[1]) });
}
