import { errorKinds } from '@call-attribution/core/errors';

/** Every exit status of `calls`. `calls --help` and the README have the same table. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: errorKinds.usage.exitStatus,
  incomplete: 3,
  refused: errorKinds.keys.exitStatus,
  unreachable: errorKinds.away.exitStatus,
  notFound: 6,
  output: errorKinds.disk.exitStatus,
  busy: errorKinds.busy.exitStatus,
  failedReport: 9,
  retractions: 10,
  interrupted: 130,
} as const;

/** What each exit status means, for the help. */
export const exitCodeTexts: readonly (readonly [number, string])[] = [
  [exitCodes.ok, 'done'],
  [exitCodes.failed, 'failed; the message says why'],
  [exitCodes.usage, 'wrong option, filter or configuration; there is no API at the URL'],
  [exitCodes.incomplete, 'the result is incomplete; the message says what is missing'],
  [exitCodes.refused, 'the server refused the keys'],
  [exitCodes.unreachable, 'the server or the database did not respond, or failed'],
  [exitCodes.notFound, 'there is no such call or field'],
  [exitCodes.output, 'the output could not be written (disk full, no permission)'],
  [
    exitCodes.busy,
    'the server asked to slow down (429) or was overloaded (503), or another process is at work',
  ],
  [exitCodes.failedReport, 'groups of a report meet --fail-if; stdout has them'],
  [exitCodes.retractions, 'an upload would take back much of what was sent; nothing was written'],
  [exitCodes.interrupted, 'stopped by Ctrl-C or a signal'],
];

/**
 * An error that the user can do something about. It is shown as plain text, without a stack trace.
 */
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
    options: {
      exitCode?: number;
      hints?: readonly string[];
      detail?: string | null;
      cause?: unknown;
    } = {},
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
    hints: readonly string[] = [],
    more: { readonly detail?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { ...more, hints, exitCode: exitCodes.usage });
  }
}

/**
 * A mistake in a filter: a caret under its place and, where there is one, the corrected filter as a
 * hint.
 */
export function filterMistake(
  { message, frame }: { readonly message: string; readonly frame: string },
  hints: readonly string[] = [],
): UsageError {
  return new UsageError(`the filter has a mistake. ${message}`, hints, { detail: frame });
}

/** Something relative, or a time for a tool, in a time zone that nobody has named. */
export const noTimeZone = (what: string): UsageError =>
  new UsageError(
    `${what} needs a time zone: the API does not say which time zone its times are in`,
    ['add --time-zone America/New_York (the time zone of the account), or set CALLS_TIME_ZONE'],
  );

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

/** A value that the format of the output has no form for. */
export const unfitValue = (
  message: string,
  cause?: unknown,
  more: readonly string[] = [],
): CliError =>
  new CliError(message, {
    cause,
    hints: ['--format ndjson writes any value as it is', '--fields chooses the fields', ...more],
  });

/** The code of the error that began it all, for metrics; `failed` for an error without one. */
export function rootCode(error: unknown): string {
  let code = 'failed';
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < 5; depth++) {
    // Codes of this project are few and in lower case; those of other libraries may be anything.
    if ('code' in cause && typeof cause.code === 'string' && /^[a-z_]{1,40}$/.test(cause.code))
      code = cause.code;
    cause = cause.cause;
  }

  return code;
}
