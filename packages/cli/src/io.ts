import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import type { Clock } from '@call-attribution/core';
import { codeOf, escapeControls } from '@call-attribution/core/errors';
import type { Duration } from '@call-attribution/core/time';
import { CliError, ClosedPipe, exitCodes, UsageError } from './errors.ts';

const silent = new Writable({ write: (_chunk, _encoding, done) => done() });

/**
 * For what a server asks on behalf of others: which periods and columns are meant is said to whoever
 * types a report, not with each request.
 */
export const forServer = (io: Io): Io => ({ ...io, stderr: silent });

/** Does the answer go to somebody who asks a server? They are not told where its files are. */
export const isForServer = ({ stderr }: Io): boolean => stderr === silent;

/** An output of the process: a terminal knows its size. */
export type Output = Writable & {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  rows?: number | undefined;
};

/** An input of the process. On a terminal, raw mode hides what is typed. */
export type Input = Readable & {
  isTTY?: boolean | undefined;
  setRawMode?: (raw: boolean) => unknown;
};

/**
 * Everything that a command uses of its process. `bin.ts` passes the real one; tests pass their
 * own.
 */
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
  /** The clock, for relative times and ages. */
  readonly clock: Pick<Clock, 'now'>;
  /** Aborts on Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** What to type to run this program again, in this terminal or in another one. Default `calls`. */
  readonly typedAs?: string;
  /** Silence after which stderr says what is waited for. Default `1s` on a terminal, else `5s`. */
  readonly patience?: Duration;
}

let touch = (): void => {};

/** Sets what is done before something is written: a line about waiting goes away first. */
export function beforeOutput(act: () => void): void {
  touch = act;
}

// The colors of `styleFor`: no other control character reaches a terminal or a line for people.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const colors = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/;

/** A line for people: what is in it from servers, files and names can do nothing to a terminal. */
export function shownText(text: string): string {
  return text
    .split(colors)
    .map((part, at) => (at % 2 === 1 ? part : escapeControls(part)))
    .join('');
}

/**
 * Writes data and waits until the bytes are written. On a terminal, control characters in it are
 * escaped. A full disk or a closed pipe becomes an error with a class of its own.
 */
export function write(
  output: Output,
  chunk: string | Uint8Array,
  name = 'standard output',
): Promise<void> {
  const text = output.isTTY === true ? escapeControls(Buffer.from(chunk).toString()) : chunk;
  return writeRaw(output, text, name);
}

/** The same for control characters that are meant. */
function writeRaw(
  output: Output,
  chunk: string | Uint8Array,
  name = 'standard output',
): Promise<void> {
  touch();
  return new Promise((resolve, reject) => {
    output.write(chunk, (error) => (error ? reject(outputError(error, name)) : resolve()));
  });
}

/** The error for a failed write: what the user sees, or a `ClosedPipe` when the reader has gone. */
export function outputError(error: unknown, where: string): Error {
  const code = codeOf(error);
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new ClosedPipe();
  const reason = reasons[code ?? ''] ?? 'it could not be written';
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new CliError(`${where}: ${reason}${code ? ` (${code})` : ''}`, {
    exitCode: exitCodes.output,
    hints: isFull ? ['free some space, or write to another disk, and run the command again'] : [],
    cause: error,
  });
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the disk',
  EMFILE: 'this process cannot open more files; raise the limit with ulimit -n',
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

/** Writes lines for people to stdout. Data is written with `write`, as it is. */
export function show(io: Io, lines: readonly string[]): Promise<void> {
  return writeRaw(io.stdout, `${shownText(lines.join('\n'))}\n`);
}

/**
 * Writes a line to stderr. A message is never worth failing for, so errors of that write are
 * dropped.
 */
export function say(io: Io, line: string): void {
  touch();
  io.stderr.write(`${shownText(line)}\n`, () => {});
}

/** The text of a file that an option names. */
export async function readText(option: string, file: string, { cwd }: Io) {
  const path = resolve(cwd, file);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const code = codeOf(cause);
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new UsageError(`--${option} ${file}: ${reason}`, [], { cause });
  });
  return { path, text };
}

/** Whether the path names a pipe or a device. */
export function isSpecial(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw new UsageError(`${path} is a folder; name a file in it`);
  return found !== undefined && !found.isFile();
}
