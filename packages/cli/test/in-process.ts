import { Readable, Writable } from 'node:stream';
import { type Output, run } from '../src/index.ts';
import type { Finished } from './program.ts';

/** What a run in this process may be given. */
export interface QuickOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  readonly now?: Date;
  /** Milliseconds of silence before a line says what is waited for. Default a minute. */
  readonly patience?: number;
  /** What stdin holds. Default nothing. */
  readonly input?: string;
  /**
   * What somebody types at a terminal, which stdin and stderr then are: all at once, or a line for
   * each question.
   */
  readonly typed?: string | readonly string[];
  /** Called with everything written to stdout so far, each time something is. */
  readonly watch?: (stdout: string) => void;
  /** The same for stderr. */
  readonly watchErrors?: (stderr: string) => void;
  /** Fails the nth write to stdout with this code, as a full disk would. */
  readonly stdoutFails?: string;
}

/** The words of a line as a shell takes them; quotes keep a word together. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    (each) => each[1] ?? each[2] ?? each[3] ?? '',
  );

/**
 * Runs `calls` in this process, with outputs in memory: the same code as the bin, without the start
 * of a process.
 */
export async function runQuick(
  typed: string | readonly string[],
  options: QuickOptions = {},
): Promise<Finished> {
  const args = typeof typed === 'string' ? wordsOf(typed) : typed;
  const stdout = memory(options.stdoutFails, options.watch);
  const { typed: keys } = options;
  const lines = typeof keys === 'object' ? [...keys] : null;
  const stderr = memory(undefined, (text) => {
    options.watchErrors?.(text);
    if (lines !== null && text.endsWith(': ')) stdin.push(lines.shift() ?? null);
  });
  const isTTY = keys !== undefined;
  const input = typeof keys === 'string' ? keys : options.input;
  const source =
    lines === null
      ? Readable.from(input === undefined ? [] : [input])
      : new Readable({ read() {} });
  const stdin = Object.assign(source, {
    isTTY,
    setRawMode: () => stdin,
  });
  stderr.stream.isTTY = isTTY;
  const code = await run(args, {
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: options.env ?? {},
    cwd: options.cwd ?? process.cwd(),
    clock: { now: () => (options.now ?? new Date('2026-11-21T12:00:00Z')).getTime() },
    signal: options.signal ?? new AbortController().signal,
    // A machine that is busy must not add lines.
    patience: options.patience ?? 60_000,
  });
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
}

function memory(
  fails?: string,
  watch?: (text: string) => void,
): { stream: Output; text: () => string } {
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      if (fails)
        return done(Object.assign(new Error('write failed'), { code: fails, syscall: 'write' }));
      text += String(chunk);
      watch?.(text);
      return done();
    },
  });
  stream.on('error', () => {});
  return { stream, text: () => text };
}
