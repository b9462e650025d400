import { exitCodes } from './exit-codes.ts';

/** An error that the user can do something about. It is shown as plain text, without a stack trace. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  /** Exit status of the process. */
  readonly exitCode: number;
  /** What to do next, one line each. */
  readonly hints: readonly string[];
  /** Lines shown as they are under the message, such as a filter with a caret. */
  readonly detail: string | null;

  constructor(
    message: string,
    options: { exitCode?: number; hints?: readonly string[]; detail?: string | null; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? exitCodes.failed;
    this.hints = options.hints ?? [];
    this.detail = options.detail ?? null;
  }
}

/** A wrong option, filter, time or configuration, found before any request. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';

  constructor(
    message: string,
    options: { hints?: readonly string[]; detail?: string | null; cause?: unknown } = {},
  ) {
    super(message, { ...options, exitCode: exitCodes.usage });
  }
}

/** The reader of stdout has gone, as in `calls list | head`. The command ends silently. */
export class ClosedPipe extends Error {
  override readonly name = 'ClosedPipe';
}

/** Ctrl-C or SIGTERM. The hints say how to continue. */
export class Interrupted extends CliError {
  override readonly name = 'Interrupted';

  constructor(hints: readonly string[] = []) {
    super('stopped', { exitCode: exitCodes.interrupted, hints });
  }
}

/** The code of a Node system error such as ENOSPC, or null. */
export function systemCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** Is it an error of a store? Recognized by its name, because the package that has the class loads the database drivers. */
export function isStoreError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && error.name === 'StoreError';
}
