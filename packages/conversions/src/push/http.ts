import { type Clock, type RetryPolicy, redact, systemClock } from '@call-attribution/core';
import { codeOf } from '@call-attribution/core/errors';
import {
  isBusy,
  type JsonObject,
  type JsonResponse,
  type Sent,
  type SentRequest,
  sendJson,
} from '@call-attribution/core/http';
import { isLoopback, readSmallFile } from '@call-attribution/core/settings';
import { PushError } from './error.ts';

/** The options of every target. */
export interface SendingOptions {
  /** Sends a request. Default: `fetch` of Node.js. */
  readonly fetch?: typeof fetch | undefined;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Ends the requests when it is aborted. Default: nothing does. */
  readonly signal?: AbortSignal | undefined;
}

/** The same with the defaults. */
export const sendingOf = ({ clock, signal, fetch: send }: SendingOptions) => ({
  fetch: send ?? fetch,
  clock: clock ?? systemClock,
  signal: signal ?? null,
});

/** What every request needs. */
export type Sending = ReturnType<typeof sendingOf>;

/** A response of a tool that could be read. */
export interface ToolResponse extends JsonResponse {
  readonly body: JsonObject;
  /** May an earlier attempt have been taken, whatever this response says? */
  readonly mayBeTaken: boolean;
}

const sentLater = 'what was not sent is sent by the next run';

/** When a request is sent again: after 1 s, and up to a minute later each time. */
const retries: RetryPolicy = { attempts: 5, baseDelay: 1_000, maxDelay: 60_000 };

/** How requests to an API are signed, and what its refusals mean. */
interface Signing {
  /** Headers with a token; with `renew`, another one than before. */
  headers(renew: boolean): Promise<Readonly<Record<string, string>>>;
  refusalOf(url: URL, response: ToolResponse): PushError;
}

/**
 * Sends a request with a token, and again while its failure may pass. Any other response is
 * returned as it is. An error says whether one of the attempts may have been taken.
 */
export async function sendSigned(
  url: URL,
  request: SentRequest,
  sending: Sending,
  { headers, refusalOf }: Signing,
): Promise<ToolResponse> {
  const sent = await sendJson(url, request, { ...sending, retry: retries, sign: headers });
  if (sent.unsigned instanceof PushError) sent.unsigned.mayBeTaken = sent.mayBeTaken;
  if (sent.unsigned !== undefined) throw sent.unsigned;
  const response = readableOf(url, sent);
  if (isBusy(response)) throw refusalOf(url, response);
  return response;
}

/** The response to a request; a `PushError` when there is none that can be read. */
function readableOf(url: URL, { response, reason, mayBeTaken }: Sent<JsonResponse>): ToolResponse {
  if (response?.body) return { ...response, body: response.body, mayBeTaken };
  let error: PushError;
  if (response === null)
    error = new PushError(
      'unreachable',
      { message: `${url.host} cannot be reached: ${reason}`, hint: sentLater },
      { reason },
    );
  // A proxy or a load balancer says in HTML that it is overloaded.
  else if (isBusy(response)) error = refused(url, response);
  else {
    const { status } = response;
    const message = `${url.host} sent a response with status ${status} that cannot be read`;
    error = new PushError('refused', { message, hint: sentLater }, { status });
  }

  // What says that it was taken says so although it cannot be read.
  error.mayBeTaken = mayBeTaken || (response !== null && response.status < 300);
  throw error;
}

/**
 * What a response says that is not a success: the name of its error, and its sentence without
 * personal data.
 */
export function refused(
  { host }: URL,
  { status, mayBeTaken = false }: { readonly status: number; readonly mayBeTaken?: boolean },
  given?: unknown,
  detail?: unknown,
): PushError {
  const reason = String(given ?? `HTTP ${status}`);
  const said = redact(String(detail ?? '')).slice(0, 300);
  const hint = refusalHints.get(reason);
  const error = new PushError(
    'refused',
    {
      message: `${host} refused the request: ${reason} (status ${status})${said === '' ? '' : `: ${said}`}`,
      ...(hint === undefined ? {} : { hint }),
    },
    { reason, status, isRetryable: isBusy({ status }) },
  );
  error.mayBeTaken = mayBeTaken;
  return error;
}

const expired = 'the credentials have expired or were revoked; create new ones';
const refusalHints: ReadonlyMap<string, string> = new Map([
  [
    'PERMISSION_DENIED',
    'give the user of the credentials access to the account, and enable the API in its project',
  ],
  ['UNAUTHENTICATED', expired],
  ['invalid_grant', expired],
]);

/** The error for something of the destination that has another form than expected. */
export const badDestination = (name: string, expected: string): PushError =>
  new PushError('bad_destination', `${name} must be ${expected}`);

/** The URL of an API that credentials may be sent to. */
export function endpointOf(text: string): URL {
  const url = safeUrl(text);
  if (url !== null) return url;
  throw badDestination(
    `the endpoint ${JSON.stringify(text)}`,
    'an https URL; plain http is for this machine only',
  );
}

/** A URL that credentials may be sent to: https, or plain http on this machine. */
export function safeUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return null;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
    ? url
    : null;
}

/** The text of a file of credentials. */
export function readKeyFile(file: string): string {
  try {
    return readSmallFile(file).text;
  } catch (error) {
    const reason = codeOf(error) ?? 'unknown reason';
    throw new PushError('bad_destination', `the key file ${file} cannot be read: ${reason}`, {
      reason,
    });
  }
}

/**
 * An access token, and for how many seconds it is valid. NaN when the server does not say: then
 * until it is refused.
 */
export interface Grant {
  readonly token: string;
  readonly seconds: number;
}

/**
 * Returns an access token; the same one until a minute before it expires. `renew` gets another one.
 */
export function keepToken(
  clock: Clock,
  exchange: () => Promise<Grant>,
): (renew: boolean) => Promise<string> {
  let known: { readonly token: string; readonly until: number } | null = null;
  return async (renew) => {
    if (renew || known === null || known.until <= clock.now()) {
      const { token, seconds } = await exchange();
      known = { token, until: clock.now() + (seconds - 60) * 1000 };
    }
    return known.token;
  };
}

/** Asks a server for a token with a form. */
export async function askForToken(
  url: URL,
  form: Readonly<Record<string, string>>,
  sending: Sending,
): Promise<JsonObject & Grant> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams(form).toString();
  return askFor(url, { method: 'POST', headers, body }, sending);
}

/**
 * Asks for a token. The description of an error may quote the account; its code says enough.
 */
export async function askFor(
  url: URL,
  request: SentRequest,
  sending: Sending,
): Promise<JsonObject & Grant> {
  const { status, body } = readableOf(
    url,
    await sendJson(url, request, { ...sending, retry: retries }),
  );
  const { access_token: token, expires_in: seconds, error } = body;
  if (status === 200 && typeof token === 'string' && token !== '')
    return { ...body, token, seconds: Number(seconds) };
  throw refused(url, { status }, typeof error === 'string' ? error : undefined);
}
