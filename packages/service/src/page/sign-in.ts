import { html } from 'hono/html';
import { type AppContext, type AppRoute, wholeReply } from '../http/context.ts';
import { readForm } from '../http/form.ts';
import type { Try } from '../http/passwords.ts';
import type { Viewer } from '../http/public-types.ts';
import { Refusal } from '../http/refusal.ts';
import { clearSession, sessionOf, viewerWith, writeSession } from './gate.ts';
import type { Sessions } from './sessions.ts';

// Where people sign in and out.

/** What signing in takes from the page. */
interface SignInParts {
  readonly viewers: readonly Viewer[];
  readonly sessions: Sessions;
  readonly tryPassword: Try;
}

/** The paths that begin and end a session. */
export function signInRoutes({ viewers, sessions, tryPassword }: SignInParts): AppRoute[] {
  const anyone = { who: 'anyone', takesPlace: false, shows: 'nothing' } as const;
  return [
    {
      ...anyone,
      path: '/sign-in',
      methods: ['GET', 'POST'],
      async handle(c) {
        if (c.req.method !== 'POST') return c.redirect('./', 303);
        refuseOtherSites(c);
        const form = await readForm(c, ['user', 'password']);
        const user = form.get('user') ?? '';
        const password = form.get('password') ?? '';
        try {
          const viewer = await tryPassword(c, 'calls', () => viewerWith(viewers, user, password));
          writeSession(c, await sessions.begin(viewer));
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          return signInPage(c, viewers, error);
        }

        return c.redirect('./', 303);
      },
    },
    {
      ...anyone,
      path: '/sign-out',
      methods: ['POST'],
      async handle(c) {
        refuseOtherSites(c);
        await sessions.end(sessionOf(c), viewers);
        clearSession(c);
        return c.redirect('./', 303);
      },
    },
  ];
}

/** Refuses a form that a page of another website has sent: browsers say where a form is from. */
function refuseOtherSites({ req }: AppContext): void {
  const site = req.header('sec-fetch-site');
  if (site === 'same-origin') return;
  const origin = req.header('origin');
  const host = req.header('host');
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
  if (site === undefined && isOwn) return;
  throw new Refusal('other_site', 'This form was sent by another website.');
}

// The form goes to this service only, and nothing else is loaded but a style sheet and three lines
// of script, which keep what the address shows.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** The page to sign in, by itself; with what was wrong, after a try. */
export async function signInPage(
  c: AppContext,
  viewers: readonly Viewer[],
  problem: Refusal | null = null,
): Promise<Response> {
  const hasUsers = viewers.some(({ access }) => access.user !== '');
  const isOptional = viewers.some(({ access }) => access.user === '');
  const user = html`<label for="user">User name${isOptional ? ' (none for the password of the page)' : ''}</label>
<input id="user" name="user" type="text" autocomplete="username" spellcheck="false" autocapitalize="off"${isOptional ? '' : html` required`} autofocus>`;
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Sign in to Calls</title>
<link rel="icon" href="page/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="page/style.css">
<script type="module" src="page/sign-in.js"></script>
</head>
<body class="entrance">
<main class="wrap">
<form id="sign-in" class="card sign-in" method="post" action="sign-in" novalidate>
<img src="page/icon.svg" width="38" height="38" alt="">
<h1>Calls</h1>
<p id="sign-in-problem" class="problem" role="alert">${problem?.message ?? ''}</p>
${hasUsers ? user : ''}
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${hasUsers ? '' : html` autofocus`}>
<button type="submit" class="primary">Sign in</button>
</form>
</main>
</body>
</html>
`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'referrer-policy': 'same-origin',
  };
  if (problem === null) return wholeReply(c, String(page), headers);
  return wholeReply(c, String(page), headers, problem.status === 429 ? 429 : 403);
}
