// Requests that are no calls of the API: tokens, keys of signers, buckets, bid tools. One loop with
// a deadline, a limit and retries; redirects are not followed, because a secret must not go
// anywhere else, and no reason of a failure can quote a header.
import { codeOf } from '../errors/calls-error.ts';
import { type Clock, sleep, systemClock } from '../time/clock.ts';
import { type RetryPolicy, requestedDelay, retryDelay } from './retry.ts';

/** A request of which any number may be sent. */
export interface SentRequest {
  /** The HTTP method. */
  readonly method: string;
  /** Headers besides those of `sign`. Default none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What is sent. Default nothing. */
  readonly body?: string | Uint8Array | null | undefined;
}

/** A response that was read whole. */
export interface SentResponse {
  /** The HTTP status. */
  readonly status: number;
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its bytes. */
  readonly body: Buffer;
}

/** How a request is sent. */
export interface SendOptions {
  /** Milliseconds that one attempt may take. Default: a minute. */
  readonly deadline?: number | undefined;
  /** Most bytes of a response. Default: 4 MiB. */
  readonly most?: number | undefined;
  /** When it is sent again. Default: it is sent once. */
  readonly retry?: RetryPolicy | undefined;
  /**
   * Whether the same request may get another response later. Default: the server is busy (429) or
   * failed (500 and above).
   */
  readonly mayPass?: ((response: SentResponse) => boolean) | undefined;
  /**
   * More headers for each attempt, such as a token or a signature. `renew`: the token before was
   * refused with 401, which is worth one more attempt. Default: none, and 401 is a response.
   */
  readonly sign?: ((renew: boolean) => Promise<Readonly<Record<string, string>>>) | undefined;
  /** Sends one attempt. Default: `fetch` of Node.js. */
  readonly fetch?: typeof fetch | undefined;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Ends the request when it is aborted. Default: nothing does. */
  readonly signal?: AbortSignal | null | undefined;
}

/** What became of a request. */
export interface Sent<R> {
  /** The last response; null when there was none. */
  readonly response: R | null;
  /**
   * Why there was none: a code of the system such as `ECONNREFUSED`, a name of an error, or a
   * sentence. Empty when there was one.
   */
  readonly reason: string;
  /** What `sign` threw; undefined when it did not. Nothing is sent after that. */
  readonly unsigned: unknown;
  /** May the server have taken one of the attempts, whatever became of the last one? */
  readonly mayBeTaken: boolean;
}

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value of JSON is an object. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A response whose body is JSON: null when it is no object, or the response is a redirect. */
export type JsonResponse = Omit<SentResponse, 'body'> & { readonly body: JsonObject | null };

/** A wait that a server asks for and that is not worth waiting. */
const longestWait = 120_000;
const once: RetryPolicy = { attempts: 1, baseDelay: 0, maxDelay: 0 };

/** Reasons that say that the request has not reached the server. */
const neverConnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
]);

/** Whether a response says that the server is busy or failed. */
export const isBusy = ({ status }: { readonly status: number }): boolean =>
  status === 429 || status >= 500;

/**
 * Sends a request, and again while that may help. It rejects only when `signal` is aborted, with
 * the reason of that.
 *
 * @example
 * const { response, reason } = await sendRequest(new URL('https://api.example/'), { method: 'GET' });
 * console.log(response?.status ?? reason);
 */
export async function sendRequest(
  url: URL,
  request: SentRequest,
  options: SendOptions = {},
): Promise<Sent<SentResponse>> {
  const { clock = systemClock, signal, sign, retry = once, mayPass = isBusy } = options;
  let renew = false;
  let mayBeTaken = false;
  for (let number = 1; ; number += 1) {
    let headers = request.headers ?? {};
    try {
      if (sign !== undefined) headers = { ...(await sign(renew)), ...headers };
    } catch (error) {
      signal?.throwIfAborted();
      return { response: null, reason: '', unsigned: error, mayBeTaken };
    }

    const { response, reason } = await attempt(url, { ...request, headers }, options);

    // A token may have been revoked before its time; another one is worth one attempt.
    if (response?.status === 401 && sign !== undefined && !renew) {
      renew = true;
      continue;
    }

    renew = false;
    const isOver = response !== null && !mayPass(response);
    const wait = retryDelay(
      retry,
      number,
      response === null ? undefined : requestedDelay(response.headers, clock.now()),
      Math.random,
    );
    if (response === null) mayBeTaken ||= !neverConnected.has(reason);
    else if (!isOver) mayBeTaken ||= response.status < 300 || response.status >= 500;
    if (isOver || number >= retry.attempts || wait > longestWait)
      return { response, reason, unsigned: undefined, mayBeTaken };
    await sleep(clock, wait, signal ?? undefined);
  }
}

/** The same for a response of JSON. */
export async function sendJson(
  url: URL,
  request: SentRequest,
  options: SendOptions = {},
): Promise<Sent<JsonResponse>> {
  const headers = { accept: 'application/json', ...request.headers };
  const sent = await sendRequest(url, { ...request, headers }, options);
  const { response } = sent;
  if (response === null) return { ...sent, response };
  const isRedirect = response.status >= 300 && response.status < 400;
  const body = isRedirect ? null : objectOf(response.body.toString('utf8'));
  return { ...sent, response: { status: response.status, headers: response.headers, body } };
}

/** One attempt: the response, or why there is none. */
async function attempt(
  url: URL,
  { method, headers, body }: SentRequest,
  { fetch: send = fetch, deadline = 60_000, most = 4 * 1024 * 1024, signal }: SendOptions,
): Promise<{ readonly response: SentResponse | null; readonly reason: string }> {
  const late = AbortSignal.timeout(deadline);
  try {
    const response = await send(url, {
      method,
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined || body === null ? {} : { body: body as string }),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      size += part.length;
      if (size > most) return { response: null, reason: 'the response is too long' };
      parts.push(part);
    }

    const { status } = response;
    const names = Object.fromEntries(response.headers);
    return { response: { status, headers: names, body: Buffer.concat(parts) }, reason: '' };
  } catch (error) {
    signal?.throwIfAborted();
    if (late.aborted) return { response: null, reason: `no response within ${deadline / 1000} s` };

    // Never its message, which may quote a header, and so a secret.
    const cause = error instanceof Error ? error.cause : undefined;
    const name = error instanceof Error ? error.name : 'the connection failed';
    return { response: null, reason: codeOf(cause) ?? codeOf(error) ?? name };
  }
}

function objectOf(text: string): JsonObject | null {
  try {
    const json: unknown = text === '' ? {} : JSON.parse(text);
    return isJsonObject(json) ? json : null;
  } catch {
    return null;
  }
}
