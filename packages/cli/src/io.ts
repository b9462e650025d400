import type { Readable, Writable } from 'node:stream';
import { CliError, ClosedPipe, systemCode } from './errors.ts';
import { exitCodes } from './exit-codes.ts';

/** An output of the process: a terminal knows its width. */
export type Output = Writable & { isTTY?: boolean | undefined; columns?: number | undefined };

/** An input of the process: a terminal can be switched to hidden typing. */
export type Input = Readable & { isTTY?: boolean | undefined; setRawMode?: (raw: boolean) => unknown };

/** Everything a command may touch of the world around it. `bin.ts` passes the process, tests pass their own. */
export interface Io {
  readonly stdin: Input;
  /** Data only. */
  readonly stdout: Output;
  /** Talk only. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative paths start from. */
  readonly cwd: string;
  /** The present, for relative dates and ages. */
  now(): Date;
  /** Aborts on Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
}

/** Writes and waits until the bytes are taken; a full disk or a closed pipe becomes an error with a name. */
export function write(output: Output, chunk: string | Uint8Array, name = 'standard output'): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(chunk, (error) => (error ? reject(outputError(error, name)) : resolve()));
  });
}

/** Turns a failed write into what the person sees, or into a quiet end when the reader left. */
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
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is larger than is allowed',
  EACCES: 'no permission to write',
  EPERM: 'no permission to write',
  EROFS: 'the disk is read-only',
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'part of the path is not a folder',
  EISDIR: 'it is a folder',
  EIO: 'the disk reports an error',
};

/** A line of talk on stderr. Talk is never worth failing for, so its errors are dropped. */
export function say(io: Io, line: string): void {
  io.stderr.write(`${line}\n`, () => {});
}
