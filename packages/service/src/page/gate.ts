import type { Store } from '@call-attribution/store';
import { getCookie, setCookie } from 'hono/cookie';
import { auth } from 'hono/utils/basic-auth';
import { type Admission, readCredential } from '../http/admission.ts';
import type { AppContext } from '../http/context.ts';
import { type Try, unauthorized } from '../http/passwords.ts';
import type { Viewer } from '../http/public-types.ts';
import { Refusal } from '../http/refusal.ts';
import type { SessionCookie, Sessions } from './sessions.ts';
import { type Account, accountFor, everythingSeen, type Sight } from './viewers.ts';

/** Who may see the page, and which calls. */
export interface PageGate {
  /** Whether people sign in with a password; else the page asks for the keys of an account. */
  readonly hasPassword: boolean;
  /** Who sends a request; null when they have not signed in, or need not. */
  visitor(c: AppContext): Promise<Viewer | null>;
  /** Refuses a request of somebody who should have signed in. */
  enter(c: AppContext): Promise<Viewer | null>;
  /**
   * Lets a request for calls through: the account whose calls they are, and how much of them is
   * seen. `wanted` is the parameter `account`.
   */
  admit(c: AppContext, wanted: string | null): Promise<Admitted>;
}

/** What somebody may see. */
interface Admitted {
  /** The account whose calls they are. */
  readonly account: Account;
  readonly sight: Sight;
}

/**
 * Everybody may see the page, and the keys of an account open its calls. Whoever holds those of the
 * only account sees all that the page has.
 */
export function keysGate(admission: Admission, store: Store): PageGate {
  return {
    hasPassword: false,
    visitor: async () => null,
    enter: async () => null,
    async admit(c) {
      const id = await admission.admit(c, readCredential(c.req.raw, 'v3'));
      const known = await store.accounts();
      const account = known.find((each) => each.id === id) ?? { id, name: id };
      const accounts = known.length > 1 ? [id] : null;
      return { account, sight: { ...everythingSeen, accounts } };
    },
  };
}

/** What the gate of viewers takes from the service. */
interface GateParts {
  readonly store: Store;
  readonly admission: Admission;
  readonly tryPassword: Try;
  readonly sessions: Sessions;
}

/** The realm that browsers and scripts know the page by. */
const realm = 'calls';

/** Viewers see the page: with the cookie of a session, or with HTTP Basic. */
export function viewersGate(
  viewers: readonly Viewer[],
  { store, admission, tryPassword, sessions }: GateParts,
): PageGate {
  const visitor = async (c: AppContext): Promise<Viewer | null> => {
    const given = auth(c.req.raw);
    if (given !== undefined)
      return tryPassword(c, realm, () => viewerWith(viewers, given.username, given.password));

    const found = await sessions.read(sessionOf(c), viewers);
    if (found?.renewed != null) writeSession(c, found.renewed);
    return found?.viewer ?? null;
  };

  const enter = async (c: AppContext): Promise<Viewer> => {
    const viewer = await visitor(c);
    if (viewer !== null) return viewer;
    throw notSignedIn(c);
  };

  return {
    hasPassword: true,
    visitor,
    enter,
    async admit(c, wanted) {
      const viewer = await enter(c);
      const account = accountFor(viewer, await store.accounts(), wanted);
      await admission.takePlace(c, account.id);
      return { account, sight: viewer };
    },
  };
}

/** The refusal of a request of somebody who has not signed in. */
export function notSignedIn({ req }: AppContext): Refusal {
  // The page signs in by itself: its requests must not make the browser ask as well.
  if (req.header('x-calls-page') !== undefined)
    return new Refusal('missing_password', 'You are not signed in, or no longer: sign in again.');
  return unauthorized(
    'missing_password',
    'This page needs its password: sign in with a browser, or send it with HTTP Basic.',
    realm,
  );
}

/**
 * The viewer with this user name and password, or null. The password of the page takes any user
 * name; a name that nobody has takes as long as a wrong password.
 */
export async function viewerWith(
  viewers: readonly Viewer[],
  user: string,
  password: string,
): Promise<Viewer | null> {
  const named = viewers.filter(({ access }) => access.user !== '' && access.user === user);
  const unnamed = viewers.filter(({ access }) => access.user === '');
  const tried = named.length > 0 ? named : viewers.slice(0, 1);
  let found: Viewer | null = null;
  for (const viewer of new Set([...tried, ...unnamed])) {
    const name = viewer.access.user === '' ? '' : user;
    if (await viewer.access.accepts(name, password)) found ??= viewer;
  }

  return found;
}

const cookieName = 'calls_session';

/** The cookie of a session, as a request has it. */
export const sessionOf = (c: AppContext): string => getCookie(c, cookieName) ?? '';

/** Sends the cookie of a session. */
export function writeSession(c: AppContext, { value, seconds }: SessionCookie): void {
  setCookie(c, cookieName, value, {
    httpOnly: true,
    sameSite: 'Lax',
    secure: isEncrypted(c),
    path: pagePath(c),
    maxAge: seconds,
  });
}

/** Takes the cookie of a session back. */
export const clearSession = (c: AppContext): void => writeSession(c, { value: '', seconds: 0 });

/** Whether the browser is connected with TLS, to the service or to a proxy in front of it. */
const isEncrypted = (c: AppContext): boolean =>
  c.req.url.startsWith('https:') ||
  c.req.header('x-forwarded-proto') === 'https' ||
  (c.req.header('origin')?.startsWith('https:') ?? false);

/** The path of the page, also where an application has mounted the service under another one. */
function pagePath(c: AppContext): string {
  const { incoming, exchange } = c.env;
  const asked = String(Reflect.get(incoming ?? {}, 'originalUrl') ?? new URL(c.req.url).pathname);
  const path = asked.replace(/\?.*$/s, '');
  return path.endsWith(exchange.route) ? `${path.slice(0, -exchange.route.length)}/` : '/';
}
