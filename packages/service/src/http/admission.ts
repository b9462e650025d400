import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '@call-attribution/core';
import { durationMillis } from '@call-attribution/core/time';
import type { AccountCredential, Store } from '@call-attribution/store';
import type { AppContext } from './context.ts';
import type { RateLimit } from './public-types.ts';
import { Refusal, type RefusalCode } from './refusal.ts';

/** Who may ask, and when. */
export interface Admission {
  /**
   * Lets a request through that has the credential of an account, once a place of the account is
   * free. Returns the account.
   */
  admit(c: AppContext, credential: AccountCredential): Promise<string>;
  /**
   * Waits until fewer requests of the account are in progress than it may have; the request has its
   * place until its response has ended. A response that its client does not read holds a place of
   * its own account, so that others do not notice.
   */
  takePlace(c: AppContext, account: string): Promise<void>;
  /** How many requests wait for a place. */
  waiting(): number;
}

/** What an admission takes from the service. */
interface AdmissionOptions {
  readonly store: Pick<Store, 'findAccount'>;
  readonly rateLimit: RateLimit | null;
  readonly clock: Pick<Clock, 'now'>;
  /** Requests of one account at a time. */
  readonly atOnce: number;
}

/**
 * How long the refusal of wrong keys takes: whoever guesses waits, instead of keeping others
 * waiting.
 */
const refusalMs = 200;

/**
 * Admits requests with the keys of a store. Several processes count rates and places separately.
 */
export function createAdmission({ store, rateLimit, clock, atOnce }: AdmissionOptions): Admission {
  const countRate = rateLimit === null ? null : rateCounter(rateLimit, clock);

  /** What starts the requests that wait, by account, in the order in which they came. */
  const queues = new Map<string, Set<() => void>>();
  const taken = new Map<string, number>();

  const leave = (account: string): void => {
    const [next] = queues.get(account) ?? [];
    const left = (taken.get(account) ?? 1) - 1;
    if (next !== undefined) next();
    else if (left > 0) taken.set(account, left);
    else {
      taken.delete(account);
      queues.delete(account);
    }
  };

  const takePlace = async ({ env, req }: AppContext, account: string): Promise<void> => {
    const { signal } = req.raw;
    env.exchange.audit = { ...env.exchange.audit, account };
    signal.throwIfAborted();
    const inProgress = taken.get(account) ?? 0;
    if (inProgress < atOnce) taken.set(account, inProgress + 1);
    else {
      const queue = queues.get(account) ?? new Set();
      queues.set(account, queue);
      await new Promise<void>((resolve, reject) => {
        const start = (): void => {
          queue.delete(start);
          signal.removeEventListener('abort', giveUp);
          resolve();
        };

        const giveUp = (): void => {
          queue.delete(start);
          reject(signal.reason);
        };

        queue.add(start);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    }

    env.exchange.ends.push(() => leave(account));
  };

  return {
    takePlace,
    waiting: () => [...queues.values()].reduce((sum, { size }) => sum + size, 0),
    async admit(c, credential) {
      const account = await store.findAccount(credential);
      if (account === null) {
        await setTimeout(refusalMs);
        throw unauthenticated(
          'invalid_credentials',
          'These credentials do not belong to an account: they are wrong or were revoked.',
        );
      }

      if (account.disabled)
        throw new Refusal(
          'account_disabled',
          'This account is disabled. Ask the operator of the service.',
        );

      for (const [name, value] of Object.entries(countRate?.(credential) ?? {}))
        c.header(name, value);
      await takePlace(c, account.id);
      return account.id;
    },
  };
}

/**
 * Counts one request, and returns the headers that say how many are left; throws a refusal with 429
 * when the key has none left.
 */
function rateCounter({ requests, per: span }: RateLimit, clock: Pick<Clock, 'now'>) {
  const per = durationMillis(span, 'rateLimit.per');
  let spans = new Map<string, { used: number; ends: number }>();
  return (credential: AccountCredential): Record<string, string> => {
    // The plain secret is not kept in memory beyond the request.
    const key = createHash('sha256').update(JSON.stringify(credential)).digest('base64');
    const time = clock.now();
    let current = spans.get(key);
    if (current === undefined || current.ends <= time) {
      // Only accepted keys get here, so the map is no larger than the number of keys in use.
      if (spans.size > 10_000) spans = new Map([...spans].filter(([, { ends }]) => ends > time));
      current = { used: 0, ends: time + per };
      spans.set(key, current);
    }

    const wait = Math.ceil((current.ends - time) / 1000);
    const isOver = current.used >= requests;
    current.used += isOver ? 0 : 1;
    const headers = {
      'ratelimit-policy': `"key";q=${requests};w=${per / 1000}`,
      ratelimit: `"key";r=${requests - current.used};t=${wait}`,
    };
    if (!isOver) return headers;
    const detail = `This key may make ${requests} requests in ${per / 1000} s. Wait ${wait} s.`;
    throw new Refusal('too_many_requests', detail, {
      headers: { ...headers, 'retry-after': String(wait) },
    });
  };
}

/**
 * Reads the credentials of a request in the given version; refuses with 401 when they are missing
 * or incomplete.
 */
export function readCredential({ headers }: Request, version: 'v2' | 'v3'): AccountCredential {
  const single = (name: string): string | undefined => {
    const value = headers.get(name) ?? undefined;
    // Headers that are sent twice arrive as one, joined like this.
    if (!value?.includes(', ')) return value;
    throw new Refusal('repeated_header', `The header ${name} is given twice. Send it once.`, {
      parameter: name,
    });
  };

  const authorization = single('authorization');
  const accessKey = single('access_key');
  const secretKey = single('secret_key');
  if (version === 'v3' && (accessKey !== undefined || secretKey !== undefined)) {
    if (authorization !== undefined)
      throw new Refusal(
        'two_credentials',
        'The request has both key headers and a bearer token. Send only one of them.',
        { parameter: 'authorization' },
      );
    if (accessKey && secretKey) return { kind: 'keys', accessKey, secretKey };
    throw unauthenticated(
      'missing_credentials',
      `The header ${accessKey ? 'secret_key' : 'access_key'} is missing: v3 needs both access_key and secret_key.`,
    );
  }

  const needed =
    version === 'v2'
      ? 'v2 needs the header "Authorization: Bearer <token>".'
      : 'v3 needs the headers access_key and secret_key, or "Authorization: Bearer <token>".';
  if (authorization === undefined) throw unauthenticated('missing_credentials', needed);

  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1];
  if (token !== undefined) return { kind: 'bearer', token };
  throw unauthenticated(
    'malformed_authorization',
    /^basic /i.test(authorization)
      ? `The header Authorization has a user and a password ("Basic"), and here are only keys: ${needed}`
      : 'The header Authorization must have the form "Bearer <token>".',
  );
}

/** The refusal of a credential that does not belong to an account. */
const unauthenticated = (code: RefusalCode, detail: string): Refusal =>
  new Refusal(code, detail, { headers: { 'www-authenticate': 'Bearer' } });
