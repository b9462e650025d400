import type { Dispatcher } from 'undici';
import { reveal } from '../auth/secret.ts';
import { CallsError, ResponseError } from '../errors/calls-error.ts';
import type { BodyPool } from '../http/body-pool.ts';
import { decodeBody } from '../http/decode-body.ts';
import { headerText, requestIdOf } from '../http/headers.ts';
import { statusError } from '../http/status-error.ts';
import { type Answer, exchange, type Limits } from '../http/transport.ts';
import { channels } from '../observe/channels.ts';
import type { Ask, Asked } from './ask.ts';
import type { Settings } from './read-options.ts';

/** One attempt: send, follow to the same server if asked, unpack, judge the status, read. */
export async function attemptOnce<T>(
  settings: Settings,
  { dispatcher, bodies }: { dispatcher: Dispatcher; bodies: BodyPool },
  ask: Ask<T>,
  attempt: number,
  leftMs: number,
): Promise<Omit<Asked<T>, 'attempts'>> {
  const { clock, maxBodyBytes, timeout } = settings;
  const began = clock.now();
  let answer: Answer | undefined;
  try {
    answer = await follow(dispatcher, ask, {
      attemptMs: timeout.attempt,
      idleMs: timeout.idle,
      leftMs,
      totalMs: timeout.total,
      maxBodyBytes,
      bodies,
      clock,
      signal: ask.signal,
    });
    // A header that is sent twice arrives as a list; its text has commas between.
    const encoding = String(answer.headers['content-encoding'] ?? '');
    if (encoding) {
      const body = await decodeBody(answer.body, encoding, maxBodyBytes);
      if (body !== answer.body) bodies.give(answer.body);
      answer = { ...answer, body };
    }
    const { status } = answer;
    if (status !== 200 && status !== 206 && !ask.alsoRead?.includes(status))
      throw status < 300 ? withoutContent(status) : statusError(answer, clock.now(), ask.authHint);
    const value = await ask.read(answer);
    if (channels.attempt.hasSubscribers) tell(ask, attempt, clock.now() - began, answer, undefined);
    return { value, answer };
  } catch (error) {
    if (error instanceof CallsError) complete(settings, ask, error, attempt, answer);
    if (channels.attempt.hasSubscribers) tell(ask, attempt, clock.now() - began, answer, error);
    throw error;
  }
}

const withoutContent = (status: number): ResponseError =>
  new ResponseError('unexpected_shape', `Status ${status} came where 200 and a body were expected.`, {
    hint: 'Check that the base URL points at the call-attribution API.',
  });

/** Follows redirects as long as they stay on the server the keys were given for, three at most. */
async function follow(dispatcher: Dispatcher, ask: Ask<unknown>, limits: Limits): Promise<Answer> {
  const { origin } = ask.request;
  let { path } = ask.request;
  const began = limits.clock.now();
  for (let hop = 0; ; hop += 1) {
    const spent = limits.clock.now() - began;
    const answer = await exchange(
      dispatcher,
      { ...ask.request, path },
      hop === 0 ? limits : { ...limits, attemptMs: limits.attemptMs - spent, leftMs: limits.leftMs - spent },
    );
    const location = headerText(answer.headers, 'location');
    const { status } = answer;
    const moves = status === 301 || status === 302 || status === 307 || status === 308;
    if (!moves || location === undefined || hop === 3 || ask.request.method !== 'GET') return answer;
    const target = URL.canParse(location, origin + path) ? new URL(location, origin + path) : undefined;
    if (target?.origin !== origin) return answer;
    path = target.pathname + target.search;
  }
}

/** Fills in what only the attempt knows, and takes this client's own keys out of what the server said. */
function complete(
  settings: Settings,
  ask: Ask<unknown>,
  error: CallsError,
  attempts: number,
  answer?: Answer,
): void {
  const requestId = answer && requestIdOf(answer.headers);
  const known = { attempts, url: ask.url, ...(requestId ? { requestId } : {}) };
  Object.assign(error, known, answer && error.status === undefined ? { status: answer.status } : {});
  for (const part of ['message', 'stack', 'body', 'requestId'] as const) {
    const text = error[part];
    const clean = text && withoutSecrets(settings, text);
    if (clean !== text) Object.assign(error, { [part]: clean });
  }
}

function withoutSecrets({ auth, legacyAuth }: Settings, text: string): string {
  let clean = text;
  for (const one of [auth, legacyAuth]) {
    const secrets =
      one === undefined ? [] : one.kind === 'keys' ? [one.accessKey, one.secretKey] : [one.token];
    // A key of a letter or two is none, and taking it out would make every message unreadable.
    for (const secret of secrets)
      for (const form of [reveal(secret), encodeURIComponent(reveal(secret))].filter(
        ({ length }) => length > 3,
      ))
        clean = clean.replaceAll(form, '[secret]');
  }
  return clean;
}

function tell(
  ask: Ask<unknown>,
  attempt: number,
  durationMs: number,
  answer: Answer | undefined,
  error: unknown,
): void {
  const { id, operation, url } = ask;
  const event = { id, operation, url, attempt, durationMs };
  const heard = answer ? { status: answer.status, bytes: answer.body.length } : {};
  const failed = error === undefined ? {} : { error: error instanceof CallsError ? error.code : 'aborted' };
  channels.attempt.publish({ ...event, ...heard, ...failed });
}
