import { CallsError, codeOf, errorKinds } from '@call-attribution/core/errors';
import type { FilterSyntaxError } from '@call-attribution/query-dsl';
import type { QuestionError } from '@call-attribution/questions';
import { CliError, exitCodes, filterMistake } from './errors.ts';
import { type Io, outputError, say } from './io.ts';
import { styleFor } from './terminal/style.ts';

/** Does the command that failed have this option? Only such options are advised. */
export type HasOption = (name: string) => boolean;

/** Says on stderr what failed and what to do, and resolves with the exit status. */
export async function report(
  error: unknown,
  io: Io,
  { debug, has }: { readonly debug: boolean; readonly has?: HasOption },
): Promise<number> {
  const shown = explain(error, has);
  const style = styleFor(io.stderr, io.env);
  say(io, `${style.red('calls:')} ${shown.message}`);
  if (shown.detail) for (const line of shown.detail.split('\n')) say(io, `  ${line}`);
  for (const hint of shown.hints) say(io, `  ${style.dim('→')} ${hint}`);
  if (debug) await trace(error, io);
  return shown.exitCode;
}

async function trace(error: unknown, io: Io): Promise<void> {
  const { redact } = await import('@call-attribution/core');
  let cause: unknown = error;
  for (let depth = 0; cause !== undefined && depth < 5; depth++) {
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    for (const line of redact(text).split('\n'))
      say(io, `  ${depth === 0 ? '' : 'cause: '}${line}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
}

/** The hint of whatever may be a fault of the configuration. */
export const tryDoctor = 'run calls doctor to try the configuration item by item';

/** The message for any error, what to do about it in words of the terminal, and the exit status. */
export function explain(error: unknown, has: HasOption = () => false): CliError {
  if (error instanceof CliError) return error;
  if (!CallsError.is(error)) return unexpected(error);

  // Classes are told apart by name, so that no package is loaded for an error that it did not
  // throw.
  if (error.name === 'FilterSyntaxError')
    return filterMistake((error as FilterSyntaxError).problem);
  const { code, requestId, url } = error;
  const nowhere = wrongAddress(error);
  let message = error.name === 'QuestionError' ? wordsOf(error as QuestionError) : error.summary;
  let exitCode: number = errorKinds[error.kind].exitStatus;
  if (nowhere !== null) {
    message = nowhere.message;
    exitCode = exitCodes.usage;
  } else if (code === 'time_limit') {
    message = 'the question took longer than its time limit and was stopped';
    exitCode = exitCodes.failed;
  } else if (code === 'retracts_much') exitCode = exitCodes.retractions;

  const own = advice[code];
  const hint = typeof own === 'function' ? own(error, has) : (own ?? error.hint);
  const isOfServer = exitCode === exitCodes.refused || exitCode === exitCodes.unreachable;
  const mayBeSetup = nowhere !== null || (isOfServer && url !== undefined);
  return new CliError(message, {
    exitCode,
    cause: error,
    hints: [
      ...(nowhere?.hints ?? hint?.split('\n') ?? []),
      ...(mayBeSetup ? [tryDoctor] : []),
      ...(requestId === undefined || nowhere
        ? []
        : [`request ID, for the support of the server: ${requestId}`]),
    ],
  });
}

function unexpected(error: unknown): CliError {
  const code = codeOf(error);
  if (code !== null && error instanceof Error && 'path' in error) {
    const written = outputError(error, String(error.path));
    if (written instanceof CliError) return written;
  }

  return new CliError(error instanceof Error ? error.message : String(error), {
    cause: error,
    hints: ['this is an unexpected error; --debug shows where it happened'],
  });
}

/** Options of the command line where questions have others. */
const renamed = new Map([
  ...['measures', 'where', 'order', 'limit', 'compare', 'period', 'from', 'to', 'q'].map(
    (name) => [name, `--${name}`] as const,
  ),
  ['groupBy', '--by'],
  ['having', '--fail-if'],
  ['expect', '--expect'],
  ['spend', '--spend'],
  ['outcomes', '--outcomes'],
  ['timeZone', '--time-zone'],
]);

/** What is wrong with a question, with the options of the terminal. */
const wordsOf = ({ said }: QuestionError): string =>
  said
    .map((part) => (typeof part === 'string' ? part : (renamed.get(part.option) ?? part.option)))
    .join('');

/** What to say when there is something else at the URL than the API; null when that is not sure. */
function wrongAddress(error: CallsError): { message: string; hints: string[] } | null {
  const { code, url, status } = error;
  const isOther = code === 'wrong_content_type';
  if (url === undefined || !(isOther || code === 'not_found')) return null;
  const found = isOther ? 'got something else' : `got status ${status}`;
  const address = url.replace(/\?.*$/, '');
  if (address.endsWith('/ibp_api.php')) {
    return {
      message: `there is no SMS listing here: looked for ${address} and ${found}`,
      hints: ['--legacy-base-url (CALLS_LEGACY_BASE_URL) must be the URL before /ibp_api.php'],
    };
  }

  return {
    message: `there is no JSON API here: looked for ${address} and ${found}`,
    hints: [
      '--base-url (CALLS_BASE_URL) must be the URL before /v2 and /v3',
      ...(isOther ? ['a login page or a proxy may have responded instead of the API'] : []),
    ],
  };
}

/** Advice that differs from that of core, which is for programs. */
const advice: Readonly<
  Record<string, string | ((error: CallsError, has: HasOption) => string | undefined)>
> = {
  unauthorized: checkKeys,
  bad_request: optionAtFault,
  rate_limited: ({ retryAfterMs }) =>
    retryAfterMs === undefined
      ? 'try again later'
      : `try again in ${Math.ceil(retryAfterMs / 1000)} s`,
  server_error: ({ retryAfterMs }) =>
    `the server or a proxy in front of it has a problem; try again ${
      retryAfterMs === undefined ? 'later' : `in ${Math.ceil(retryAfterMs / 1000)} s`
    }`,
  timeout: ({ limit, hint }) =>
    limit === 'connect' ? hint : 'CALLS_TIMEOUT=3m gives a request more time',
  body_too_large: (_, has) => (has('rows') ? 'ask for fewer calls at once: --rows 100' : undefined),
  range_ignored:
    'ask the operator of the server; without a filter by time, only a query of one page can be read',
  invalid_json: (_, has) =>
    `a proxy may have cut the response${has('rows') ? '; ask for fewer calls at once: --rows 100' : ''}`,
  invalid_record: 'calls export and calls sync leave such records out with --on-bad-record skip',
  invalid_sql: ({ hint }) =>
    hint && `${hint.charAt(0).toLowerCase()}${hint.slice(1).replace(/\.$/, '')}`,
  time_limit: '--timeout 5m raises the limit; or ask for a shorter time',
  unknown_account:
    'calls store accounts lists those it has; calls store accounts add --account 101 adds one',
  retracts_much: 'check the rules and the time zone; if it is right, add --allow-retractions',
  in_the_way: 'or name another file with --output; {date} in its name is the day',
  engine_unavailable: 'check the address of --engine (CALLS_FLEET), and that the server runs',
  credential_missing: ({ hint }) =>
    hint ?? '--keys (CALLS_FLEET_KEYS) names the folder with the credentials',
};

/** Core says what the server expects; here it comes from these variables. */
function checkKeys({ hint = '', credentials }: CallsError): string {
  const names =
    credentials === 'token' ? 'CALLS_BEARER_TOKEN' : 'CALLS_ACCESS_KEY and CALLS_SECRET_KEY';
  return `check ${names}, or the files with them. ${hint}`.trim();
}

/** The options that make the request, of those that the command has. */
function optionAtFault(_: CallsError, has: HasOption): string | undefined {
  const sent = ['rows', 'q'].filter(has).map((name) => `--${name}`);
  return sent.length === 0
    ? undefined
    : `check ${[...sent, 'the times'].join(', ')}: they are what was sent`;
}
