import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '@call-attribution/core';
import { propertyOf } from '@call-attribution/core/errors';
import { machineZone, planCalls, planQuestion } from '@call-attribution/questions';
import type { Store } from '@call-attribution/store';
import { passwordAccess } from '../http/access.ts';
import type { Admission } from '../http/admission.ts';
import { type AppContext, type AppRoute, jsonReply, wholeReply } from '../http/context.ts';
import type { Try } from '../http/passwords.ts';
import type { Viewer } from '../http/public-types.ts';
import type { PageOptions, PageSetup } from '../options.ts';
import { pageDataRoutes } from './data-routes.ts';
import { keysGate, notSignedIn, viewersGate } from './gate.ts';
import { PageSource } from './page-source.ts';
import { createSessions } from './sessions.ts';
import { signInPage, signInRoutes } from './sign-in.ts';
import { accountsFor, everythingSeen, hiddenFrom } from './viewers.ts';

/** What the page takes from the service. */
interface PageParts {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly admission: Admission;
  readonly tryPassword: Try;
}

const built = fileURLToPath(new URL('./assets/', import.meta.url));
/** Files that everybody may have: they know nothing of the store. */
const files = [
  ['/page/app.js', 'text/javascript; charset=utf-8'],
  ['/page/sign-in.js', 'text/javascript; charset=utf-8'],
  ['/page/style.css', 'text/css; charset=utf-8'],
  ['/page/icon.svg', 'image/svg+xml'],
] as const;

// Nothing may be loaded from or sent to another host, and nobody may frame the page; it has no
// inline script or style.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What the page knows of an account whose keys it does not have. */
const keyless = { records: null, accessKey: '', secretKey: '', bearerToken: '' };

/**
 * The routes of the page for people: its files, signing in, what it has to know of the service,
 * numbers and calls.
 */
export function pageRoutes(options: PageOptions, parts: PageParts): AppRoute[] {
  const { assets = built, setup = noSetup } = options;
  const timeZone = zoneOf(options);
  checkSetup(setup);
  const { store, clock, admission, tryPassword } = parts;
  const viewers = viewersOf(options);
  const sessions = createSessions(clock);

  // Without viewers everybody may see the page, and keys open the calls of their account.
  const gate =
    viewers.length === 0
      ? keysGate(admission, store)
      : viewersGate(viewers, { store, admission, tryPassword, sessions });
  const open = { who: 'anyone', takesPlace: false, shows: 'nothing' } as const;
  return [
    {
      ...open,
      path: '/',
      async handle(c) {
        if (gate.hasPassword && (await gate.visitor(c)) === null) {
          const isBrowser = /\btext\/html\b/.test(c.req.header('accept') ?? '');
          if (isBrowser) return signInPage(c, viewers);
          throw notSignedIn(c);
        }

        return fileReply(c, join(assets, 'index.html'), 'text/html; charset=utf-8');
      },
    },
    ...files.map(
      ([path, type]): AppRoute => ({
        ...open,
        path,
        handle: (c) => fileReply(c, join(assets, basename(path)), type),
      }),
    ),
    ...(gate.hasPassword ? signInRoutes({ viewers, sessions, tryPassword }) : []),
    {
      path: '/page/about.json',
      who: gate.hasPassword ? 'viewer' : 'anyone',
      takesPlace: false,
      shows: 'accounts',
      async handle(c) {
        const viewer = await gate.enter(c);
        return jsonReply(c, JSON.stringify(await aboutPage(options, parts, viewer)));
      },
    },
    ...pageDataRoutes(new PageSource(store, { now: () => clock.now(), timeZone }), gate, setup),
  ];
}

/** Who may see the page by signing in: those with a name, and who has the password of the page. */
function viewersOf({ viewers = [], password }: PageOptions): readonly Viewer[] {
  if (!password) return viewers;
  return [...viewers, { access: passwordAccess('', password), accounts: null, personal: true }];
}

const noSetup: PageSetup = { definitions: {}, exclude: null, reports: [], annotations: [] };

/** Refuses definitions and reports with a mistake, before anybody opens the page. */
function checkSetup({ definitions, exclude, reports }: PageSetup): void {
  planCalls({ definitions, ...(exclude === null ? {} : { exclude }) });
  for (const { question } of reports) planQuestion({ ...question, definitions });
}

/** The zone of the calls' times; null when nobody has said which it is. */
const zoneOf = ({ timeZone, sandbox }: PageOptions): string | null =>
  timeZone ?? (sandbox === undefined ? null : 'UTC');

/** What the page has to know of the service, and of who looks at it. */
async function aboutPage(options: PageOptions, { store, clock }: PageParts, viewer: Viewer | null) {
  const { sandbox } = options;
  const timeZone = zoneOf(options);
  const seen =
    viewer === null
      ? (sandbox?.accounts ?? [])
      : accountsFor(viewer, await store.accounts()).map(({ id, name }) => ({
          id,
          name,
          ...keyless,
        }));
  return {
    kind: sandbox === undefined ? 'mirror' : 'sandbox',
    live: sandbox?.live ?? false,
    hasPassword: viewer !== null,
    user: viewer?.access.user ?? '',
    hidden: hiddenFrom(viewer ?? everythingSeen),
    accounts: seen,
    now: clock.now(),
    timeZone: timeZone ?? machineZone(),
    isZoneKnown: timeZone !== null,
  };
}

async function fileReply(c: AppContext, file: string, type: string): Promise<Response> {
  try {
    return wholeReply(c, await readFile(file), {
      'content-type': type,
      'content-security-policy': policy,
      'referrer-policy': 'same-origin',
    });
  } catch (error) {
    if (propertyOf(error, 'code') !== 'ENOENT') throw error;
    return c.text(
      'The page is made when the package is built, and this package has not been built: run its build script.\n',
      404,
    );
  }
}
