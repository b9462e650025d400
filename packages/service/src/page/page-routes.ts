import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '@call-attribution/core';
import { propertyOf } from '@call-attribution/core/errors';
import { machineZone } from '@call-attribution/questions';
import type { Store } from '@call-attribution/store';
import { auth } from 'hono/utils/basic-auth';
import { passwordAccess } from '../feeds/access.ts';
import { type Admission, readCredential } from '../http/admission.ts';
import { type AppContext, type AppRoute, jsonReply, wholeReply } from '../http/context.ts';
import { type Try, unauthorized } from '../http/passwords.ts';
import { Refusal } from '../http/refusal.ts';
import type { PageOptions } from '../options.ts';
import { type PageGate, pageDataRoutes } from './data-routes.ts';
import { PageSource } from './page-source.ts';

/** What the page takes from the service. */
interface PageParts {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly admission: Admission;
  readonly tryPassword: Try;
}

/**
 * One password opens the page with the calls of all accounts. Browsers ask for it and remember it.
 */
function passwordGate(password: string, { store, admission, tryPassword }: PageParts): PageGate {
  const access = passwordAccess('', password);

  const enter = async (c: AppContext): Promise<void> => {
    const given = auth(c.req.raw);
    if (given === undefined)
      throw unauthorized(
        'missing_password',
        'This page needs its password (HTTP Basic, any user name).',
        'calls',
      );

    await tryPassword(c, 'calls', async () =>
      (await access.accepts('', given.password)) ? true : null,
    );
  };

  return {
    enter,
    hasPassword: true,
    async admit(c, wanted) {
      await enter(c);
      const known = await store.accounts();
      const account =
        wanted === null
          ? known[0]
          : (known.find(({ id }) => id === wanted) ?? known.find(({ name }) => name === wanted));
      if (account === undefined)
        throw new Refusal(
          'malformed_parameter',
          'The store has no account of the parameter account.',
          {
            parameter: 'account',
          },
        );

      await admission.takePlace(c, account.id);
      return account.id;
    },
  };
}

const built = fileURLToPath(new URL('./assets/', import.meta.url));
const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page/app.js', 'app.js', 'text/javascript; charset=utf-8'],
  ['/page/style.css', 'style.css', 'text/css; charset=utf-8'],
  ['/page/icon.svg', 'icon.svg', 'image/svg+xml'],
] as const;

// Nothing may be loaded from or sent to another host, and nobody may frame the page; it has no
// inline script or style.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What the page knows of an account whose keys it does not have. */
const keyless = { records: null, accessKey: '', secretKey: '', bearerToken: '' };

/**
 * The routes of the page for people: its files, what it has to know of the service, numbers and
 * calls.
 */
export function pageRoutes(options: PageOptions, parts: PageParts): AppRoute[] {
  const { accounts = [], live = false, assets = built, password } = options;
  const { store, clock, admission } = parts;
  const kind = accounts.length > 0 ? 'sandbox' : 'mirror';
  const timeZone = options.timeZone ?? (kind === 'sandbox' ? 'UTC' : null);

  // Without a password everybody may see the page, and keys open the calls of their account.
  const gate: PageGate = password
    ? passwordGate(password, parts)
    : {
        enter: async () => {},
        admit: (c) => admission.admit(c, readCredential(c.req.raw, 'v3')),
        hasPassword: false,
      };
  const { hasPassword } = gate;
  return [
    ...files.map(([path, file, type]) => ({
      path,
      async handle(c: AppContext) {
        await gate.enter(c);
        return fileReply(c, join(assets, file), type);
      },
    })),
    {
      path: '/page/about.json',
      async handle(c) {
        await gate.enter(c);
        const known = hasPassword ? await store.accounts() : [];
        const about = {
          kind,
          live,
          hasPassword,
          accounts: hasPassword
            ? known.map(({ id, name }) => ({ id, name, ...keyless }))
            : accounts,
          now: clock.now(),
          timeZone: timeZone ?? machineZone(),
          isZoneKnown: timeZone !== null,
        };
        return jsonReply(c, JSON.stringify(about));
      },
    },
    ...pageDataRoutes(new PageSource(store), gate),
  ];
}

async function fileReply(c: AppContext, file: string, type: string): Promise<Response> {
  try {
    return wholeReply(c, await readFile(file), {
      'content-type': type,
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
    });
  } catch (error) {
    if (propertyOf(error, 'code') !== 'ENOENT') throw error;
    return c.text(
      'The page is made when the package is built, and this package has not been built: run its build script.\n',
      404,
    );
  }
}
