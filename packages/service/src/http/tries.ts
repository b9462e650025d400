import { setTimeout } from 'node:timers/promises';
import type { ClientOf } from './addresses.ts';
import type { AppContext } from './context.ts';
import { Refusal } from './refusal.ts';

/** Most passwords of one address that are checked, or wait for their refusal, at the same time. */
const mostAtOnce = 20;
/** How long the refusal of a wrong password takes. */
const refusalMs = 500;

/** Checks a password, and refuses the request when it is wrong. */
export type Try = <Found>(c: AppContext, realm: string, check: () => Promise<Found | null>) => Promise<Found>;

/** Guesses take time, and one address can make only a few at once. */
export function createTries(clientOf: ClientOf): Try {
  const atOnce = new Map<string, number>();
  return async (c, realm, check) => {
    const address = clientOf(c);
    const others = atOnce.get(address) ?? 0;
    if (others >= mostAtOnce)
      throw new Refusal('too_many_tries', 'Too many passwords at once. Wait 1 s.', {
        headers: { 'retry-after': '1' },
      });
    atOnce.set(address, others + 1);
    try {
      const found = await check();
      if (found !== null) return found;
      await setTimeout(refusalMs);
      throw unauthorized('wrong_password', 'The user name or the password is wrong.', realm);
    } finally {
      const left = (atOnce.get(address) ?? 1) - 1;
      if (left === 0) atOnce.delete(address);
      else atOnce.set(address, left);
    }
  };
}

/** The refusal that makes a browser ask for a password, which it remembers for the realm. */
export const unauthorized = (
  code: 'wrong_password' | 'missing_password',
  detail: string,
  realm: string,
): Refusal =>
  new Refusal(code, detail, {
    headers: { 'www-authenticate': `Basic realm="${realm}", charset="UTF-8"` },
  });
