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
import { type PageGate, pageDataRoutes } from './data-routes.ts';
import { PageSource } from './page-source.ts';

/** An account with its keys in plain text, as a sandbox or a test knows it. */
export interface AccountWithKeys {
  /** Id in the store. */
  readonly id: string;
  /** Name to show. */
  readonly name: string;
  /** Access key of v3 and of the SMS listing. */
  readonly accessKey: string;
  /** Secret key that belongs to it. */
  readonly secretKey: string;
  /** Bearer token of v2. */
  readonly bearerToken: string;
}

/** An account with its test keys, as the page of a sandbox shows it. */
export interface PageAccount extends AccountWithKeys {
  /** The number of calls at the start. */
  readonly records: number;
}

/** What the page at `/` shows. */
export interface PageOptions {
  /** The accounts of a sandbox, whose test keys the page shows. Default none: the page has input fields for keys. */
  readonly accounts?: readonly PageAccount[] | undefined;
  /** Are new calls coming in? Default false. */
  readonly live?: boolean | undefined;
  /**
   * The password of the page: with it, browsers ask for it (HTTP Basic, any user name), whoever has it sees all accounts, and keys do
   * not open the page any more. The API stays as it is. Default: the page asks for keys.
   */
  readonly password?: string | null | undefined;
  /** The time zone of the calls' times: words such as `yesterday` are about its days. Default: that of this machine, and the page says so. */
  readonly timeZone?: string | undefined;
  /** Folder of the built page. Default: the one in this package. */
  readonly assets?: string | undefined;
}

/** What the page takes from the service. */
interface PageParts {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly admission: Admission;
  readonly tryPassword: Try;
}

/** One password opens the page with the calls of all accounts. Browsers ask for it and remember it. */
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
    await tryPassword(c, 'calls', async () => ((await access.accepts('', given.password)) ? true : null));
  };
  return {
    enter,
    hasPassword: true,
    async admit(c, wanted) {
      await enter(c);
      const known = await store.accounts();
      const account = wanted === null ? known[0] : known.find(({ id }) => id === wanted);
      if (account === undefined)
        throw new Refusal('malformed_parameter', 'The store has no account of the parameter account.', {
          parameter: 'account',
        });
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

// Nothing may be loaded from or sent to another host, and nobody may frame the page; it has no inline script or style.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What the page knows of an account whose keys it does not have. */
const keyless = { records: null, accessKey: '', secretKey: '', bearerToken: '' };

/** The routes of the page for people: its files, what it has to know of the service, numbers and calls. */
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
          ...{ kind, live, hasPassword },
          accounts: hasPassword ? known.map(({ id, name }) => ({ id, name, ...keyless })) : accounts,
          ...{ now: clock.now(), timeZone: timeZone ?? machineZone(), isZoneKnown: timeZone !== null },
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
