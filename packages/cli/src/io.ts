import type { Readable, Writable } from 'node:stream';
import { CliError, ClosedPipe, systemCode } from './errors.ts';
import { exitCodes } from './exit-codes.ts';

/** An output of the process: a terminal knows its width. */
export type Output = Writable & { isTTY?: boolean | undefined; columns?: number | undefined };

/** An input of the process. On a terminal, raw mode hides what is typed. */
export type Input = Readable & { isTTY?: boolean | undefined; setRawMode?: (raw: boolean) => unknown };

/** Everything that a command uses of its process. `bin.ts` passes the real one; tests pass their own. */
export interface Io {
  /** For keys that are typed, NDJSON to import and the messages of an MCP client. */
  readonly stdin: Input;
  /** Only for data. */
  readonly stdout: Output;
  /** For messages and progress. */
  readonly stderr: Output;
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative paths start from. */
  readonly cwd: string;
  /** The present, for relative times and ages. */
  now(): Date;
  /** Aborts on Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
}

/** Writes and waits until the bytes are written. A full disk or a closed pipe becomes an error with a class of its own. */
export function write(output: Output, chunk: string | Uint8Array, name = 'standard output'): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(chunk, (error) => (error ? reject(outputError(error, name)) : resolve()));
  });
}

/** The error for a failed write: what the user sees, or a `ClosedPipe` when the reader has gone. */
export function outputError(error: unknown, where: string): Error {
  const code = systemCode(error);
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new ClosedPipe();
  const reason = reasons[code ?? ''] ?? 'it could not be written';
  return new CliError(`${where}: ${reason}${code ? ` (${code})` : ''}`, {
    exitCode: exitCodes.output,
    cause: error,
  });
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is exceeded',
  EFBIG: 'the file is larger than the limit',
  EACCES: 'no permission to write',
  EPERM: 'no permission to write',
  EROFS: 'the disk is read-only',
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'part of the path is not a folder',
  EISDIR: 'it is a folder',
  EIO: 'the disk reports an error',
};

/** A failed write of a file names the file; any other error stays what it is. */
export function fileError(error: unknown, shown: string): unknown {
  const isFile =
    error instanceof Error && 'syscall' in error && !('address' in error) && !('hostname' in error);
  return isFile ? outputError(error, shown) : error;
}

/** Writes a line to stderr. A message is never worth failing for, so errors of that write are dropped. */
export function say(io: Io, line: string): void {
  io.stderr.write(`${line}\n`, () => {});
}
