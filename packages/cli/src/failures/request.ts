import type { CallsError } from '@call-attribution/core/errors';
import { CliError } from '../errors.ts';
import { exitCodes, exitOf } from '../exit-codes.ts';

/** Does the command that failed have this option? Only such options are advised. */
export type HasOption = (name: string) => boolean;

/** The hint of whatever may be a fault of the configuration. */
export const tryDoctor = 'run calls doctor to try the configuration item by item';

/** What `calls` says about a request that failed: what core says, with the options and commands of `calls`. */
export function explainRequest(error: CallsError, has: HasOption): CliError {
  const { requestId } = error;
  const nowhere = wrongAddress(error);
  const exitCode = statusOf(error, nowhere !== null);
  const hints = nowhere ? nowhere.hints : adviceFor(error, has);
  const mayBeSetup = exitCode === exitCodes.refused || exitCode === exitCodes.unreachable || nowhere;
  return new CliError(nowhere?.message ?? whatHappened(error), {
    exitCode,
    cause: error,
    hints: [
      ...hints,
      ...(mayBeSetup ? [tryDoctor] : []),
      ...(requestId === undefined || nowhere
        ? []
        : [`request ID, for the support of the server: ${requestId}`]),
    ],
  });
}

function whatHappened(error: CallsError): string {
  const { code, status, url = '' } = error;
  if (code !== 'not_found' || !isAboutCall(error)) return error.summary;
  const sid = decodeURIComponent(/\/user\/bid-management\/([^/?]*)/.exec(url)?.[1] ?? '');
  return `the account has no call with the session ID ${sid} (status ${status})`;
}

function statusOf(error: CallsError, isNowhere: boolean): number {
  if (isNowhere) return exitCodes.usage;
  return error.code === 'not_found' && isAboutCall(error) ? exitCodes.notFound : exitOf(error);
}

/** Was the request for one call, so that status 404 may mean that there is no such call? */
const isAboutCall = ({ url }: CallsError): boolean =>
  /\/user\/bid-management\/(?!count\b)[^/?]/.test(url ?? '');

/** What to say when there is something else at the URL than the API; null when that is not sure. */
function wrongAddress(error: CallsError): { message: string; hints: string[] } | null {
  const { code, url, status } = error;
  const isOther = code === 'wrong_content_type';
  if (url === undefined || !(isOther || (code === 'not_found' && !isAboutCall(error)))) return null;
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

const waitLonger = 'CALLS_TIMEOUT=3m gives a request more time';
const leaveOut = 'calls export and calls sync leave such records out with --on-bad-record skip';

/** Advice that differs from that of core, which is for programs. */
const advice: Readonly<Record<string, string | ((error: CallsError, has: HasOption) => string | undefined)>> =
  {
    unauthorized: checkKeys,
    bad_request: optionAtFault,
    not_found: 'check the session ID, and that the keys are those of its account',
    rate_limited: ({ retryAfterMs }) =>
      retryAfterMs === undefined ? 'try again later' : `try again in ${Math.ceil(retryAfterMs / 1000)} s`,
    server_error: ({ retryAfterMs }) =>
      `the server or a proxy in front of it has a problem; try again ${
        retryAfterMs === undefined ? 'later' : `in ${Math.ceil(retryAfterMs / 1000)} s`
      }`,
    timeout: ({ limit, hint }) => (limit === 'connect' ? hint : waitLonger),
    body_too_large: (_, has) => (has('rows') ? 'ask for fewer calls at once: --rows 100' : undefined),
    range_ignored:
      'ask the operator of the server; without a filter by time, only a query of one page can be read',
    invalid_json: (_, has) =>
      `a proxy may have cut the response${has('rows') ? '; ask for fewer calls at once: --rows 100' : ''}`,
    invalid_record: leaveOut,
  };

function adviceFor(error: CallsError, has: HasOption): string[] {
  const own = advice[error.code];
  const hint = typeof own === 'function' ? own(error, has) : (own ?? error.hint);
  return hint ? [hint] : [];
}

/** Core says what the server expects; here it comes from these variables. */
function checkKeys({ hint = '', credentials }: CallsError): string {
  const names = credentials === 'token' ? 'CALLS_BEARER_TOKEN' : 'CALLS_ACCESS_KEY and CALLS_SECRET_KEY';
  return `check ${names}, or the files with them. ${hint}`.trim();
}

/** The options that make the request, of those that the command has. */
function optionAtFault(_: CallsError, has: HasOption): string | undefined {
  const sent = ['rows', 'page', 'q'].filter(has).map((name) => `--${name}`);
  return sent.length === 0 ? undefined : `check ${[...sent, 'the times'].join(', ')}: they are what was sent`;
}
