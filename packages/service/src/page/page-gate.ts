import type { Store } from '@call-attribution/store';
import { auth } from 'hono/utils/basic-auth';
import { passwordAccess } from '../feeds/access.ts';
import type { AppContext } from '../http/context.ts';
import { readCredential } from '../http/credentials.ts';
import { type Admit, takePlace } from '../http/gate.ts';
import type { Places } from '../http/places.ts';
import { Refusal } from '../http/refusal.ts';
import { type Try, unauthorized } from '../http/tries.ts';

/** Who may see the page. */
export interface PageGate {
  /** Lets a request for a file of the page through. */
  enter(c: AppContext): Promise<void>;
  /** Lets a request for calls through, and returns the account whose calls they are. `wanted` is the parameter `account`. */
  admit(c: AppContext, wanted: string | null): Promise<string>;
  /** The accounts to choose from with the parameter `account`; null where the keys say the account. */
  readonly accounts: (() => Promise<readonly object[]>) | null;
}

/** Everybody may see the page, and keys open the calls of their account. */
export const keysGate = (admit: Admit): PageGate => ({
  enter: async () => {},
  admit: (c) => admit(c, readCredential(c.req.raw, 'v3')),
  accounts: null,
});

/** What the page knows of an account whose keys it does not have. */
const keyless = { records: null, accessKey: '', secretKey: '', bearerToken: '' };

/** One password opens the page with the calls of all accounts. Browsers ask for it and remember it. */
export function passwordGate(
  password: string,
  { store, places, tryPassword }: { store: Pick<Store, 'accounts'>; places: Places; tryPassword: Try },
): PageGate {
  const access = passwordAccess('', password);
  const enter = async (c: AppContext): Promise<void> => {
    const given = auth(c.req.raw);
    if (given === undefined)
      throw unauthorized(
        'missing_password',
        'This page needs its password (HTTP Basic, any user name).',
        'calls',
      );
    await tryPassword(c, 'calls', async () => ((await access.accepts('', given.password)) ? true : null));
  };
  return {
    enter,
    async admit(c, wanted) {
      await enter(c);
      const known = await store.accounts();
      const account = wanted === null ? known[0] : known.find(({ id }) => id === wanted);
      if (account === undefined)
        throw new Refusal('malformed_parameter', 'The store has no account of the parameter account.', {
          parameter: 'account',
        });
      await takePlace(c, places, account.id);
      return account.id;
    },
    accounts: async () => (await store.accounts()).map(({ id, name }) => ({ id, name, ...keyless })),
  };
}
