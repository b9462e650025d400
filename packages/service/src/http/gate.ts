import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '@call-attribution/core';
import type { Account, AccountCredential, Store } from '@call-attribution/store';
import type { AppContext } from './context.ts';
import { refused } from './credentials.ts';
import type { Places } from './places.ts';
import type { RateLimiter } from './rate-limit.ts';
import { Refusal } from './refusal.ts';

/** An accepted credential, and the headers that say how many requests are left. */
interface Admission {
  readonly account: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Accepts a credential, or refuses it with 401, 403 or 429. */
type Gate = (credential: AccountCredential) => Promise<Admission>;

/** Lets a request through that has the credential of an account, once a place of the account is free. */
export type Admit = (c: AppContext, credential: AccountCredential) => Promise<string>;

/** Admits requests with known keys, such as those in a store. */
export function createAdmit(
  findAccount: Store['findAccount'],
  { limiter, clock, places }: { limiter: RateLimiter | null; clock: Pick<Clock, 'now'>; places: Places },
): Admit {
  const gate = createGate(findAccount, limiter, clock);
  return async (c, credential) => {
    const { account, headers } = await gate(credential);
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
    await takePlace(c, places, account);
    return account;
  };
}

/** Waits for a place of the account, which the request has until its response has ended. */
export async function takePlace({ env, req }: AppContext, places: Places, account: string): Promise<void> {
  env.exchange.account = account;
  env.exchange.ends.push(await places.take(account, req.raw.signal));
}

/** For how long a known key is remembered: a revoked key is refused after this many milliseconds at the latest. */
const memoryMs = 2_000;
const memorySize = 10_000;
/** How long the refusal of wrong keys takes: whoever guesses waits, instead of keeping others waiting. */
const refusalMs = 200;

/** A gate over known keys, such as those in a store, with a rate limit per key when one is given. */
function createGate(
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
      await setTimeout(refusalMs);
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
      throw new Refusal('account_disabled', 'This account is disabled. Ask the operator of the service.');
    return { account: account.id, headers: limiter === null ? {} : limiter.take(key) };
  };
}
