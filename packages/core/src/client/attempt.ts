import { reveal } from '../auth/secret.ts';
import { CallsError, ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { secretValues } from '../http/custom-headers.ts';
import { decodeBody } from '../http/decode-body.ts';
import type { RequestDispatcher } from '../http/dispatch.ts';
import { headerText, requestIdOf } from '../http/headers.ts';
import { statusError } from '../http/status-error.ts';
import { type HttpResponse, type Limits, send } from '../http/transport.ts';
import { channels } from '../observe/events.ts';
import type { ApiRequest, ApiResponse } from './api-request.ts';
import type { Settings } from './options.ts';

/** One attempt: send, follow redirects within the server, decode, check the status, read. */
export async function attemptOnce<T>(
  settings: Settings,
  dispatcher: RequestDispatcher,
  request: ApiRequest<T>,
  attempt: number,
  leftMs: number,
): Promise<Omit<ApiResponse<T>, 'attempts'>> {
  const { clock, maxBodyBytes, timeout } = settings;
  const began = clock.now();
  let response: HttpResponse | undefined;
  try {
    response = await sendAndFollow(dispatcher, request, {
      attemptMs: timeout.attempt,
      idleMs: timeout.idle,
      leftMs,
      totalMs: timeout.total,
      maxBodyBytes,
      clock,
      signal: request.options.signal,
    });
    // A header that is sent twice arrives as a list; as a string it has commas between its values.
    const encoding = String(response.headers['content-encoding'] ?? '');
    if (encoding) {
      response = { ...response, body: await decodeBody(response.body, encoding, maxBodyBytes) };
      request.options.signal?.throwIfAborted();
    }
    const { status } = response;
    if (status !== 200 && status !== 206 && !request.alsoRead?.includes(status))
      throw status < 300
        ? new ResponseError('unexpected_shape', messages.noContent(status))
        : statusError(response, clock.now(), request.authKind);
    const value = await request.read(response);
    if (isObserved(settings)) publish(settings, request, attempt, clock.now() - began, response, undefined);
    return { value, response };
  } catch (error) {
    if (error instanceof CallsError) complete(settings, request, error, attempt, response);
    if (isObserved(settings)) publish(settings, request, attempt, clock.now() - began, response, error);
    throw error;
  }
}

const mostRedirects = 3;

/** Follows redirects as long as they stay on the server that the credentials were given for. */
async function sendAndFollow(
  dispatcher: RequestDispatcher,
  { http }: ApiRequest<unknown>,
  limits: Limits,
): Promise<HttpResponse> {
  const { origin } = http;
  let { path } = http;
  const began = limits.clock.now();
  for (let redirects = 0; ; redirects += 1) {
    const spent = limits.clock.now() - began;
    const left = { attemptMs: limits.attemptMs - spent, leftMs: limits.leftMs - spent };
    const response = await send(
      dispatcher,
      { ...http, path },
      redirects === 0 ? limits : { ...limits, ...left },
    );
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
  settings: Settings,
  request: ApiRequest<unknown>,
  error: CallsError,
  attempts: number,
  response?: HttpResponse,
): void {
  const requestId = response && requestIdOf(response.headers);
  const known = { attempts, url: request.url, ...(requestId ? { requestId } : {}) };
  Object.assign(error, known, response && error.status === undefined ? { status: response.status } : {});
  for (const part of ['message', 'stack', 'body', 'requestId'] as const) {
    const text = error[part];
    const clean = text && withoutSecrets(settings, text);
    if (clean !== text) Object.assign(error, { [part]: clean });
  }
}

function withoutSecrets({ auth, legacyAuth, headers }: Settings, text: string): string {
  const keys = [auth, legacyAuth].flatMap((one) =>
    one === undefined ? [] : one.kind === 'keys' ? [one.accessKey, one.secretKey] : [one.token],
  );
  let clean = text;
  // A key of a few letters is hardly a real one, and removing it would make every message unreadable.
  for (const secret of [...keys.map(reveal), ...secretValues(headers)])
    for (const form of [secret, encodeURIComponent(secret)])
      if (form.length > 3) clean = clean.replaceAll(form, '[secret]');
  return clean;
}

const isObserved = ({ log }: Settings): boolean => channels.attempt.hasSubscribers || log.debug !== undefined;

function publish(
  { log }: Settings,
  { id, operation, url }: ApiRequest<unknown>,
  attempt: number,
  durationMs: number,
  response: HttpResponse | undefined,
  error: unknown,
): void {
  const status = response?.status;
  const bytes = response?.body.length;
  const code = error === undefined ? undefined : error instanceof CallsError ? error.code : 'aborted';
  log.debug?.('attempt', { operation, attempt, status, error: code, ms: Math.round(durationMs), bytes, url });
  if (!channels.attempt.hasSubscribers) return;
  channels.attempt.publish({
    id,
    operation,
    url,
    attempt,
    durationMs,
    ...(response ? { status, bytes } : {}),
    ...(code === undefined ? {} : { error: code }),
  });
}
