import {
  type Clock,
  type RetryPolicy,
  redact,
  requestedDelay,
  retryDelay,
  sleep,
  systemClock,
} from '@call-attribution/core';
import { codeOf } from '@call-attribution/core/errors';
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

/** A response that was read whole. */
export interface JsonResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** A response to a request that may have been sent more than once. */
export interface SignedResponse extends JsonResponse {
  /** May an earlier attempt have been taken, whatever this response says? */
  readonly mayBeTaken: boolean;
}

/** A request of which any number may be sent. */
export interface JsonRequest {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

const sentLater = 'what was not sent is sent by the next run';
const attemptMs = 60_000;
const mostBytes = 4 * 1024 * 1024;

/**
 * Sends one request and reads the JSON of its response. Redirects are not followed: a token must
 * not go anywhere else.
 */
export async function sendJson(
  url: URL,
  request: JsonRequest,
  sending: Sending,
): Promise<JsonResponse> {
  const deadline = AbortSignal.timeout(attemptMs);
  const { signal } = sending;
  let status = 0;
  let text: string;
  let headers: Record<string, string>;
  try {
    const response = await sending.fetch(url, {
      method: request.method,
      headers: { accept: 'application/json', ...request.headers },
      ...(request.body === undefined ? {} : { body: request.body }),
      redirect: 'manual',
      signal: signal === null ? deadline : AbortSignal.any([signal, deadline]),
    });
    status = response.status;
    headers = Object.fromEntries(response.headers);
    text = await textOf(response);
  } catch (error) {
    signal?.throwIfAborted();
    const reason = reasonOf(error, deadline);
    throw new PushError(
      'unreachable',
      { message: `${url.host} cannot be reached: ${reason}`, hint: sentLater },
      { reason },
    );
  }

  const body = status >= 300 && status < 400 ? null : objectOf(text);
  if (body === null) {
    // A proxy or a load balancer says in HTML that it is overloaded.
    if (isPassing(status)) throw refused(url, { status });
    const message = `${url.host} sent a response with status ${status} that cannot be read`;
    throw new PushError('refused', { message, hint: sentLater }, { status });
  }

  return { status, headers, body };
}

/** When a request is sent again: after 1 s, and up to a minute later each time. */
const retries: RetryPolicy = { attempts: 5, baseDelay: 1_000, maxDelay: 60_000 };
const longestWait = 120_000;

/** How requests to an API are signed, and what its refusals mean. */
interface Signing {
  /** Headers with a token; with `renew`, another one than before. */
  headers(renew: boolean): Promise<Readonly<Record<string, string>>>;
  refusalOf(url: URL, response: SignedResponse): PushError;
}

/**
 * Sends a request with a token, and again while its failure may pass. Any other response is
 * returned as it is. An error says whether one of the attempts may have been taken.
 */
export async function sendSigned(
  url: URL,
  request: JsonRequest,
  sending: Sending,
  { headers, refusalOf }: Signing,
): Promise<SignedResponse> {
  const { clock, signal } = sending;
  let renew = false;
  let mayBeTaken = false;
  for (let number = 1; ; number += 1) {
    let failure: PushError;
    let requested: number | undefined;
    let isSent = false;
    try {
      const signed = { ...request, headers: { ...(await headers(renew)), ...request.headers } };
      isSent = true;
      const response = { ...(await sendJson(url, signed, sending)), mayBeTaken };
      const { status } = response;
      // A token may have been revoked before its time; another one is worth one attempt.
      if (status === 401 && !renew) {
        renew = true;
        continue;
      }
      renew = false;
      if (!isPassing(status)) return response;
      failure = refusalOf(url, response);
      requested = requestedDelay(response.headers, clock.now());
    } catch (error) {
      if (!(error instanceof PushError)) throw error;
      failure = error;
    }
    mayBeTaken ||= isSent && !isUntaken(failure);
    failure.mayBeTaken = mayBeTaken;
    const wait = retryDelay(retries, number, requested, Math.random);
    if (!failure.isRetryable || number >= retries.attempts || wait > longestWait) throw failure;
    await sleep(clock, wait, signal ?? undefined);
  }
}

const neverConnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
]);

/** Does the failure of a request say that the tool has not taken it? */
function isUntaken({ code, reason, status = 0 }: PushError): boolean {
  return code === 'unreachable' ? neverConnected.has(reason) : status >= 300 && status < 500;
}

/** May the same request succeed later? */
const isPassing = (status: number): boolean => status === 429 || status >= 500;

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
    { reason, status, isRetryable: isPassing(status) },
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

async function textOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > mostBytes) throw new Error('the response is too long');
    parts.push(part);
  }

  return Buffer.concat(parts).toString('utf8');
}

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value of JSON is an object. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function objectOf(text: string): JsonObject | null {
  try {
    const json: unknown = text === '' ? {} : JSON.parse(text);
    return isJsonObject(json) ? json : null;
  } catch {
    return null;
  }
}

function reasonOf(error: unknown, deadline: AbortSignal): string {
  if (deadline.aborted) return `no response within ${attemptMs / 1000} s`;
  if (!(error instanceof Error)) return 'the connection failed';
  const cause = error.cause ?? error;
  const code = isJsonObject(cause) ? cause.code : undefined;
  return typeof code === 'string' ? code : error.message;
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
  return granted(url, await sendJson(url, { method: 'POST', headers, body }, sending));
}

/**
 * The answer of a token server, with the token. The description of an error may quote the account;
 * its code says enough.
 */
export function granted(url: URL, { status, body }: JsonResponse): JsonObject & Grant {
  const { access_token: token, expires_in: seconds, error } = body;
  if (status === 200 && typeof token === 'string' && token !== '')
    return { ...body, token, seconds: Number(seconds) };
  throw refused(url, { status }, typeof error === 'string' ? error : undefined);
}
