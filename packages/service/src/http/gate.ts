import { createHash } from 'node:crypto';
import type { Clock } from '@call-attribution/core';
import type { Account, AccountCredential, Store } from '@call-attribution/store';
import { refused } from './credentials.ts';
import type { RateLimiter } from './rate-limit.ts';
import { Refusal } from './refusal.ts';

/** An accepted credential, and the headers that say how many requests are left. */
interface Admission {
  readonly account: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Accepts a credential, or refuses it with 401, 403 or 429. */
export type Gate = (credential: AccountCredential) => Promise<Admission>;

/** For how long a known key is remembered: a revoked key is refused after this many milliseconds at the latest. */
const memoryMs = 2_000;
const memorySize = 10_000;

/** A gate over known keys, such as those in a store, with a rate limit per key when one is given. */
export function createGate(
  findAccount: Store['findAccount'],
  limiter: RateLimiter | null,
  clock: Pick<Clock, 'now'>,
): Gate {
  const memory = new Map<string, { account: Account; until: number }>();

  const find = async (key: string, credential: AccountCredential): Promise<Account> => {
    const known = memory.get(key);
    if (known !== undefined && known.until > clock.now()) return known.account;
    memory.delete(key);
    const account = await findAccount(credential);
    if (account === null) {
      throw refused(
        'invalid_credentials',
        'These credentials do not belong to an account: they are wrong or were revoked.',
      );
    }
    if (memory.size >= memorySize) memory.clear();
    memory.set(key, { account, until: clock.now() + memoryMs });
    return account;
  };

  return async (credential) => {
    const text =
      credential.kind === 'keys' ? `${credential.accessKey}\n${credential.secretKey}` : credential.token;
    // The plain secret is not kept in memory beyond the request.
    const key = createHash('sha256').update(`${credential.kind}\n${text}`).digest('base64');
    const account = await find(key, credential);
    if (account.disabled)
      throw new Refusal(
        403,
        'account_disabled',
        'This account is disabled. Ask the operator of the service.',
      );
    return { account: account.id, headers: limiter === null ? {} : limiter.take(key) };
  };
}
