// Apart from connection.ts, so that public types do not lead to the declarations of the SDK.
import type { Readable } from 'node:stream';

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
