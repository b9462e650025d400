// A request, from the limiter to the value that is read from its response. The order of request()
// is the order of what happens.
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { reveal } from '../auth/secret.ts';
import { bodyExcerpt, serverReason } from '../errors/body-excerpt.ts';
import { CallsError, codeOf } from '../errors/calls-error.ts';
import { ConfigurationError, DeadlineError, HttpError, ResponseError } from '../errors/classes.ts';
import { wordsOf } from '../errors/code-table.ts';
import { httpErrors, responseErrors } from '../errors/codes.ts';
import { withDetails } from '../errors/with-details.ts';
import type {
  DispatchController,
  HttpRequest,
  HttpResponse,
  RequestDispatcher,
} from '../http/dispatch.ts';
import { headerText, plainHeaders, requestIdOf, secretValues } from '../http/headers.ts';
import { isLookingUp } from '../http/lookup.ts';
import { bodyDamaged, lookupTimedOut, networkError, proxyRefused } from '../http/network-error.ts';
import { openDispatcher } from '../http/open-dispatcher.ts';
import { requestedDelay, retryDelay } from '../http/retry.ts';
import { type CopyScope, parseScopes, scopeHeader } from '../page/copy-scope.ts';
import type { Call } from '../record/generated/calls.ts';
import { sleep } from '../time/clock.ts';
import { minute } from '../time/naive.ts';
import { safeCaller } from '../tracing/index.ts';
import type { Client } from './client.ts';
import {
  attemptTracing,
  logFailure,
  noteFailure,
  type Operation,
  requestTracing,
  waitTracing,
  whole,
} from './events.ts';
import type { ClientReport, RequestOptions, ResponseInfo, Settings } from './options.ts';
import { settingsFor } from './read-options.ts';

/** How the credentials of a client can be refused, and what to check then. */
const authHints = {
  v2: 'v2 expects a bearer token issued for this account: check that it is the right one and has not expired.',
  'v3 token':
    'v3 accepts bearer tokens of legacy users only; others need an access key and a secret key.',
  'v3 keys':
    'v3 expects the access key and the secret key in the headers access_key and secret_key. Some proxies (nginx by default) drop header names with an underscore: check the proxies on the way, too.',
  sms: 'The SMS listing expects the access key and the secret key of the account as access_key and secret_access_key.',
} as const;

/**
 * One request to the API, and how its response is read. An error of `read` counts as a failed
 * attempt.
 */
export interface ApiRequest<T> {
  readonly operation: Operation;
  readonly http: HttpRequest;
  /** The URL as it may be shown. */
  readonly url: string;
  /** Which credentials the request carries. */
  readonly authKind: keyof typeof authHints;
  /** Statuses besides 200 and 206 that `read` understands. */
  readonly alsoRead: readonly number[];
  readonly options: RequestOptions;
  read(response: HttpResponse): T | Promise<T>;
}

/** What a request returned. */
export interface ApiResponse<T> {
  readonly value: T;
  readonly response: HttpResponse;
  /** How many times the request was sent. */
  readonly attempts: number;
}

/** Sends the requests of one client. */
export interface Requests {
  request<T>(job: ApiRequest<T>): Promise<ApiResponse<T>>;
  /** Which calls the server has, as its last list or count said. */
  readonly only: readonly CopyScope[];
  close(): Promise<void>;
}

/** What the methods of one client share. */
export interface Context {
  readonly settings: Settings;
  readonly requests: Requests;
  /** Tells what the client notices. */
  report(report: ClientReport): void;
  /** Checks a record and gives its fields their neutral names. */
  readonly adapt: (record: unknown) => Call;
}

/** What sends one request, with which settings. */
interface Sender {
  readonly client: Client;
  readonly settings: Settings;
  readonly dispatcher: RequestDispatcher;
  /** Responses that are waited for. */
  readonly underway: Set<Promise<unknown>>;
}

/** The transport is loaded with the first request: until then a client costs nothing. */
export function createRequests(client: Client, settings: Settings): Requests {
  const underway = new Set<Promise<unknown>>();
  const safely = safeCaller('onResponse');
  let opened: ReturnType<typeof openDispatcher> | undefined;
  let dispatcher: RequestDispatcher | undefined = settings.dispatcher;
  let closed: Promise<void> | undefined;
  let only: readonly CopyScope[] = [];
  return {
    get only() {
      return only;
    },
    async request(job) {
      const { operation, options, url } = job;
      if (closed !== undefined) throw new ConfigurationError('client_closed');
      const own = settingsFor(settings, options);
      options.signal?.throwIfAborted();
      if (dispatcher === undefined) {
        opened ??= openDispatcher(settings.fetch, settings.proxies, settings.timeout.connect);
        dispatcher = await opened;
      }

      const sender = { client, settings: own, dispatcher, underway };
      const response = await requestTracing.run(
        () => {
          const { method, origin } = job.http;
          const { protocol, hostname: address, port } = new URL(origin);
          const usual = protocol === 'https:' ? 443 : 80;
          return { client, operation, method, url, address, port: Number(port) || usual };
        },
        () => request(job, sender),
        (trace, outcome) => {
          noteFailure(trace, outcome);
          if ('value' in outcome) {
            trace.attempts = outcome.value.attempts;
            trace.status = outcome.value.response.status;
          } else if (outcome.error instanceof CallsError) {
            const { attempts, status } = outcome.error;
            if (attempts !== undefined) trace.attempts = attempts;
            if (status !== undefined) trace.status = status;
          }
        },
        settings.log.error && ((trace) => logFailure(settings.log, trace)),
      );
      if (operation === 'list' || operation === 'count')
        only = parseScopes(headerText(response.response.headers, scopeHeader));
      const { onResponse } = options;
      if (onResponse) safely(() => onResponse(responseInfo(response)));
      return response;
    },
    close() {
      closed ??=
        opened?.then((own) => own.close(Promise.allSettled(underway))) ?? Promise.resolve();
      return closed;
    },
  };
}

const mostRedirects = 3;

/**
 * Sends a request until an attempt succeeds, another one cannot help, or the total deadline has
 * passed.
 */
async function request<T>(job: ApiRequest<T>, sender: Sender): Promise<ApiResponse<T>> {
  const { operation, url, options, alsoRead } = job;
  const { client, settings, underway } = sender;
  const { clock, limiter, log, maxBodyBytes, retry, timeout } = settings;
  const { signal } = options;
  const own = { client, operation, url };
  const http = {
    ...job.http,
    headers: [...job.http.headers, ...Object.entries(settings.headers).flat()],
  };
  const end = clock.now() + timeout.total;

  for (let attempt = 1; ; attempt += 1) {
    // The limiter decides when it starts, within the total deadline.
    if (limiter) await passLimiter(job, sender, attempt - 1, end - clock.now());

    let failure: CallsError;
    let waitMs: number;
    let response: HttpResponse | undefined;
    try {
      return await attemptTracing.run(
        () => ({ ...own, attempt }),
        async () => {
          try {
            // Redirects are followed as long as they stay on the server that the credentials were
            // given for.
            let path: string | undefined = http.path;
            const ends = { attempt: clock.now() + timeout.attempt, total: end };
            let redirects = 0;
            do {
              const sent = exchange(sender, { ...http, path }, ends, signal);
              const done = () => underway.delete(sent);
              underway.add(sent);
              sent.then(done, done);
              response = await sent;
              path = redirects < mostRedirects ? redirectWithin(response, http, path) : undefined;
              redirects += 1;
            } while (path !== undefined);

            response = await decode(response, maxBodyBytes);
            signal?.throwIfAborted();

            const { status } = response;
            if (status !== 200 && status !== 206 && !alsoRead.includes(status))
              throw statusError(response, clock.now(), job.authKind);
            return { value: await job.read(response), response, attempts: attempt };
          } catch (error) {
            // The reason of a signal is the program's own.
            if (!(error instanceof CallsError) || error === signal?.reason) throw error;
            throw complete(error, settings, url, attempt, response);
          }
        },
        (trace, outcome) => {
          noteFailure(trace, outcome);
          if (response === undefined) return;
          trace.status = response.status;
          trace.bytes = response.body.length;
        },
        log.debug &&
          (({ status, code, durationMs, bytes }) =>
            log.debug?.('attempt', {
              operation,
              attempt,
              status,
              error: code,
              ms: whole(durationMs),
              bytes,
              url,
            })),
      );
    } catch (error) {
      if (!(error instanceof CallsError) || error === signal?.reason) throw error;
      failure = error;
      waitMs = retryDelay(retry, attempt, error.retryAfterMs, settings.random);
      if (error.code === 'rate_limited') limiter?.pause(waitMs);
      const isSilence = error.limit === 'idle' || error.limit === 'connect';
      const isLast = attempt >= retry.attempts || (isSilence && !retry.afterSilence);
      if (!error.isRetryable || isLast) throw error;
      if (clock.now() + waitMs >= end) {
        // Silence says nothing about when to come back: its own advice is the better one.
        if (isSilence) throw error;
        // A wait that does not fit is not begun. A Date cannot hold a later time than this, but
        // servers may request one.
        const when = new Date(Math.min(clock.now() + waitMs, 8.64e15)).toISOString();
        const retryAfterMs = error.retryAfterMs ?? waitMs;
        const hint = `The next attempt would be due in ${Math.ceil(waitMs / 1000)} s, after the total deadline; try again after ${when}.`;
        throw withDetails(error, { hint, retryAfterMs });
      }
    } finally {
      limiter?.release();
    }

    const { code: after, status } = failure;
    // A server that asks for a pause is at work; other errors are worth a look.
    const write = after === 'rate_limited' ? log.info : log.warn;
    write?.('retry', { operation, attempt, error: after, status, waitMs, url });
    const wait = { ...own, reason: 'retry', attempts: attempt, waitMs, after } as const;
    await waitTracing.run(
      () => (status === undefined ? wait : { ...wait, status }),
      () => sleep(clock, waitMs, signal),
      noteFailure,
    );
  }
}

const held = Symbol('held back');

/** Waits for the limiter, within the signal and the total deadline. */
async function passLimiter(
  { operation, url, options: { signal } }: ApiRequest<unknown>,
  { client, settings: { clock, limiter, log, timeout } }: Sender,
  attempts: number,
  leftMs: number,
): Promise<void> {
  const guard = new AbortController();
  const stop = () => guard.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });

  const late = () =>
    new DeadlineError(
      'timeout',
      `The limiter did not let the request start within the total deadline of ${timeout.total} ms.`,
      {
        hint: 'Raise timeout.total or the limits, or send fewer requests at once.',
        isRetryable: false,
        limit: 'total',
      },
    );

  const cancel = clock.timer(() => guard.abort(late()), leftMs);
  try {
    if (signal?.aborted) stop();
    const turn = limiter?.acquire(guard.signal) ?? Promise.resolve();
    // Most requests may start at once: that is no wait.
    if ((await Promise.race([turn, held])) !== held) return;
    await waitTracing.run(
      () => ({ client, operation, url, reason: 'limiter', attempts }),
      () => turn,
      noteFailure,
      log.info &&
        (({ durationMs, code }) => {
          const waitedMs = whole(durationMs);
          if (waitedMs > 0 && code === undefined)
            log.info?.('held back by the limiter', { operation, waitedMs, url });
        }),
    );
  } finally {
    cancel();
    signal?.removeEventListener('abort', stop);
  }
}

/** When the deadlines of an attempt and of the whole request pass. */
type Ends = { readonly [limit in 'attempt' | 'total']: number };

/**
 * Sends one request and collects the complete response. One timer watches all deadlines; an abort
 * or a passed deadline rejects at once and closes the socket.
 */
function exchange(
  { dispatcher, settings: { clock, maxBodyBytes, timeout } }: Sender,
  request: HttpRequest,
  ends: Ends,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  const { origin } = request;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let controller: DispatchController | undefined;
    let begun: Omit<HttpResponse, 'body'> | undefined;
    let failure: Error | undefined;
    let isDone = false;
    let cancel = () => {};
    const chunks: Buffer[] = [];
    let size = 0;
    let heard = clock.now();

    const finish = () => {
      isDone = true;
      cancel();
      signal?.removeEventListener('abort', onAbort);
    };

    const fail = (error: unknown) => {
      if (isDone) return;
      finish();
      failure = error instanceof Error ? error : new Error('stopped');
      reject(error);
      controller?.abort(failure);
    };

    const onAbort = () => fail(signal?.reason);

    const watch = () => {
      const now = clock.now();
      const rest = Math.min(ends.total, ends.attempt, heard + timeout.idle) - now;
      // At least once a minute: without any deadline, this timer keeps the process alive while a
      // name is looked up.
      if (rest > 0) cancel = clock.timer(watch, Math.max(1, Math.min(rest, minute)));
      else fail(lateError(origin, now, ends, timeout));
    };

    signal?.addEventListener('abort', onAbort, { once: true });
    watch();
    if (isDone) return;
    try {
      dispatcher.dispatch(request, {
        onRequestStart(given) {
          controller = given;
          heard = clock.now();
          if (failure) given.abort(failure);
        },
        onResponseStart(_, status, headers) {
          heard = clock.now();
          begun = { status, headers };
          if (Number(headers['content-length']) > maxBodyBytes) fail(tooLarge(maxBodyBytes));
        },
        onResponseData(_, chunk) {
          heard = clock.now();
          if (isDone) return;
          size += chunk.length;
          if (size > maxBodyBytes) fail(tooLarge(maxBodyBytes));
          else chunks.push(chunk);
        },
        onResponseEnd() {
          if (isDone) return;
          if (begun === undefined) return fail(networkError(undefined, origin, false));
          finish();
          // This copies: a dispatcher may use the memory of its parts again.
          resolve({ ...begun, body: Buffer.concat(chunks, size) });
        },
        // An abort of our own is reported here, too.
        onResponseError: (_, error) => fail(networkError(error, origin, begun !== undefined)),
      });
    } catch (error) {
      // Only a dispatcher passed by the user throws here; the timer must not outlive it.
      fail(networkError(error, origin, false));
    }
  });
}

function lateError(
  origin: string,
  now: number,
  ends: Ends,
  { attempt, idle, total }: Settings['timeout'],
): DeadlineError {
  const isRetryable = now < ends.total;
  const { hostname } = new URL(origin);
  const end = (limit: 'idle' | 'attempt' | 'total', message: string, hint: string) =>
    new DeadlineError('timeout', message, { hint, limit, isRetryable });

  // A name that hangs in DNS is what all the time went into.
  if (isLookingUp(hostname)) return lookupTimedOut(hostname, { isRetryable });
  if (!isRetryable)
    return end(
      'total',
      `The call did not finish within its total deadline of ${total} ms.`,
      'Request fewer rows, or raise timeout.total.',
    );

  if (now >= ends.attempt)
    return end(
      'attempt',
      `The response was not complete within ${attempt} ms.`,
      'Request fewer rows, or raise timeout.attempt.',
    );

  return end(
    'idle',
    `The server sent nothing for ${idle} ms.`,
    'The server or a proxy may be stuck; raise timeout.idle if the server is only slow.',
  );
}

const tooLarge = (maxBodyBytes: number) =>
  new ResponseError(
    'body_too_large',
    `The response is larger than the limit of ${maxBodyBytes} bytes.`,
    {
      hint: wordsOf(responseErrors.body_too_large).hint,
    },
  );

/** The path that a response redirects to, if it is on the same server. */
function redirectWithin(
  { status, headers }: HttpResponse,
  { method, origin }: HttpRequest,
  path: string,
): string | undefined {
  const location = headerText(headers, 'location');
  const isRedirect = status === 301 || status === 302 || status === 307 || status === 308;
  if (!isRedirect || location === undefined || method !== 'GET') return undefined;
  const target = URL.canParse(location, origin + path)
    ? new URL(location, origin + path)
    : undefined;
  return target?.origin === origin ? target.pathname + target.search : undefined;
}

const codings: ReadonlyMap<
  string,
  (body: Buffer, limit: { maxOutputLength: number }) => Promise<Buffer>
> = new Map([
  ['gzip', promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip)],
  ['deflate', promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.inflate)],
  ['br', promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress)],
]);

/** Undoes the content encodings of a body, within the size limit. */
async function decode(response: HttpResponse, maxOutputLength: number): Promise<HttpResponse> {
  // A header that is sent twice arrives as a list; as a string it has commas between its values.
  const encoding = String(response.headers['content-encoding'] ?? '');
  if (encoding === '') return response;
  let { body } = response;
  const names = encoding.split(',').map((name) => name.trim().toLowerCase().replace(/^x-/, ''));
  for (const name of names.reverse()) {
    if (name === '' || name === 'identity') continue;
    const unpack = codings.get(name);
    if (!unpack)
      throw new ResponseError(
        'invalid_json',
        'The response has a content encoding that was not requested.',
        {
          hint: 'gzip, deflate and br are understood; compress: false requests none.',
        },
      );
    try {
      body = await unpack(body, { maxOutputLength });
    } catch (error) {
      if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxOutputLength);
      throw bodyDamaged(name);
    }
  }

  return { ...response, body };
}

const statusCodes: Readonly<Record<number, HttpError['code']>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'not_found',
  408: 'server_error',
  429: 'rate_limited',
};

/** The error for a status that a request does not want. */
function statusError(
  { status, headers, body }: HttpResponse,
  now: number,
  authKind: keyof typeof authHints,
): CallsError {
  if (status < 300)
    return new ResponseError(
      'unexpected_shape',
      `Got status ${status} where 200 and a body were expected.`,
      {
        hint: 'Check that the base URL points to the call-attribution API.',
        isRetryable: false,
      },
    );

  if (status === 407) return proxyRefused();
  let code = statusCodes[status] ?? 'bad_request';
  if (status < 400) code = 'redirect_refused';
  if (status >= 500) code = 'server_error';
  const isRetryable = status === 408 || status === 429 || status >= 500;
  const retryAfterMs = isRetryable ? requestedDelay(headers, now) : undefined;
  const credentials = authKind === 'v2' || authKind === 'v3 token' ? 'token' : 'keys';
  const words = wordsOf(httpErrors[code]);
  const message = `${words.message.replace(/(?: \([^)]*\))?\.$/, '')} (status ${status}).`;
  let { hint } = words;
  if (code === 'unauthorized') hint = authHints[authKind];
  if (status === 414 || status === 431)
    hint = 'The filter is too long for this server: split it into several.';
  return new HttpError(
    code,
    { message, serverReason: serverReason(body), hint },
    {
      isRetryable,
      status,
      retryAfterMs,
      // An overloaded server asks for the same as one that counts requests.
      kind: status === 503 ? 'busy' : undefined,
      credentials: code === 'unauthorized' ? credentials : undefined,
      body: body.length > 0 ? bodyExcerpt(body) : undefined,
    },
  );
}

/**
 * Adds what only the request knows, and removes this client's own credentials from what the server
 * sent.
 */
function complete(
  error: CallsError,
  { auth, legacyAuth, headers }: Settings,
  url: string,
  attempts: number,
  response: HttpResponse | undefined,
): CallsError {
  const keys = [auth, legacyAuth]
    .filter((one) => one !== undefined)
    .flatMap((one) => (one.kind === 'keys' ? [one.accessKey, one.secretKey] : [one.token]));
  const secrets = [...keys.map(reveal), ...secretValues(headers)]
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    // A key of a few letters is hardly a real one, and removing it would make every message
    // unreadable.
    .filter(({ length }) => length > 3);
  const clean = (text: string | undefined) =>
    text && secrets.reduce((done, secret) => done.replaceAll(secret, '[secret]'), text);
  return withDetails(error, {
    attempts,
    url,
    status: error.status ?? response?.status,
    requestId: clean((response && requestIdOf(response.headers)) ?? error.requestId),
    ownWords: clean(error.ownWords),
    serverReason: clean(error.serverReason),
    hint: clean(error.hint),
    body: clean(error.body),
    stack: clean(error.stack),
  });
}

/** What callers may know of the response that a result was read from. */
export function responseInfo({
  response: { status, headers },
  attempts,
}: ApiResponse<unknown>): ResponseInfo {
  return { status, headers: plainHeaders(headers), requestId: requestIdOf(headers), attempts };
}
