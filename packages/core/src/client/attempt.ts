import { reveal } from '../auth/secret.ts';
import { CallsError, ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { withDetails } from '../errors/with-details.ts';
import { secretValues } from '../http/custom-headers.ts';
import { decodeBody } from '../http/decode-body.ts';
import type { RequestDispatcher } from '../http/dispatch.ts';
import { headerText, requestIdOf } from '../http/headers.ts';
import { statusError } from '../http/status-error.ts';
import { type HttpResponse, send } from '../http/transport.ts';
import type { ApiRequest, ApiResponse } from './api-request.ts';
import { attemptTracing } from './events.ts';
import { noteFailure } from './observe.ts';
import type { Settings } from './options.ts';

/** A request on its way: what is sent, with which settings, and what sends it. */
export interface Sending<T> {
  readonly request: ApiRequest<T>;
  readonly settings: Settings;
  readonly dispatcher: RequestDispatcher;
  /** Notes that a response is waited for. */
  readonly track: <T>(work: Promise<T>) => Promise<T>;
}

/** One attempt: send, follow redirects within the server, decode, check the status, read. */
export function attemptOnce<T>(
  sending: Sending<T>,
  attempt: number,
  leftMs: number,
): Promise<Omit<ApiResponse<T>, 'attempts'>> {
  const { client, operation, url, options } = sending.request;
  let response: HttpResponse | undefined;
  return attemptTracing.run(
    () => ({ client, operation, url, attempt }),
    async () => {
      try {
        response = await sendAndFollow(sending, leftMs);
        response = await decoded(response, sending);
        return { value: await readChecked(response, sending), response };
      } catch (error) {
        // The reason of a signal is the program's own.
        if (!(error instanceof CallsError) || error === options.signal?.reason) throw error;
        throw complete(error, sending, attempt, response);
      }
    },
    (context, outcome) => {
      noteFailure(context, outcome);
      if (response === undefined) return;
      context.status = response.status;
      context.bytes = response.body.length;
    },
  );
}

async function decoded(
  response: HttpResponse,
  { settings, request }: Sending<unknown>,
): Promise<HttpResponse> {
  // A header that is sent twice arrives as a list; as a string it has commas between its values.
  const encoding = String(response.headers['content-encoding'] ?? '');
  if (!encoding) return response;
  const body = await decodeBody(response.body, encoding, settings.maxBodyBytes);
  request.options.signal?.throwIfAborted();
  return { ...response, body };
}

function readChecked<T>(response: HttpResponse, { settings, request }: Sending<T>): T | Promise<T> {
  const { status } = response;
  if (status === 200 || status === 206 || request.alsoRead?.includes(status)) return request.read(response);
  throw status < 300
    ? new ResponseError('unexpected_shape', messages.noContent(status), { isRetryable: false })
    : statusError(response, settings.clock.now(), request.authKind);
}

const mostRedirects = 3;

/** Follows redirects as long as they stay on the server that the credentials were given for. */
async function sendAndFollow(
  { dispatcher, request: { http, options }, settings, track }: Sending<unknown>,
  leftMs: number,
): Promise<HttpResponse> {
  const { origin } = http;
  const { clock, maxBodyBytes, timeout } = settings;
  let { path } = http;
  const began = clock.now();
  for (let redirects = 0; ; redirects += 1) {
    const spent = clock.now() - began;
    const limits = {
      attemptMs: timeout.attempt - spent,
      idleMs: timeout.idle,
      leftMs: leftMs - spent,
      totalMs: timeout.total,
      maxBodyBytes,
      clock,
      signal: options.signal,
    };
    const response = await track(send(dispatcher, { ...http, path }, limits));
    const location = headerText(response.headers, 'location');
    const { status } = response;
    const isRedirect = status === 301 || status === 302 || status === 307 || status === 308;
    if (!isRedirect || location === undefined || redirects === mostRedirects || http.method !== 'GET')
      return response;
    const target = URL.canParse(location, origin + path) ? new URL(location, origin + path) : undefined;
    if (target?.origin !== origin) return response;
    path = target.pathname + target.search;
  }
}

/** Adds what only the attempt knows, and removes this client's own credentials from what the server sent. */
function complete(
  error: CallsError,
  { settings, request }: Sending<unknown>,
  attempts: number,
  response?: HttpResponse,
): CallsError {
  const clean = cleaner(settings);
  const requestId = (response && requestIdOf(response.headers)) ?? error.requestId;
  const status = error.status ?? response?.status;
  return withDetails(error, {
    attempts,
    url: request.url,
    message: clean(error.summary),
    stack: error.stack && clean(error.stack),
    ...(error.hint === undefined ? {} : { hint: clean(error.hint) }),
    ...(error.body === undefined ? {} : { body: clean(error.body) }),
    ...(requestId === undefined ? {} : { requestId: clean(requestId) }),
    ...(status === undefined ? {} : { status }),
  });
}

/** Removes the credentials of a client from a text. */
function cleaner({ auth, legacyAuth, headers }: Settings): (text: string) => string {
  const keys = [auth, legacyAuth]
    .filter((one) => one !== undefined)
    .flatMap((one) => (one.kind === 'keys' ? [one.accessKey, one.secretKey] : [one.token]));
  const secrets = [...keys.map(reveal), ...secretValues(headers)]
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    // A key of a few letters is hardly a real one, and removing it would make every message unreadable.
    .filter(({ length }) => length > 3);
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text);
}
