import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { propertyOf } from '@call-attribution/core/errors';
import { machineZone } from '@call-attribution/questions';
import { type AppContext, type AppRoute, jsonReply, wholeReply } from '../http/context.ts';
import type { PageGate } from './page-gate.ts';
import type { PageOptions } from './page-options.ts';

const built = fileURLToPath(new URL('./assets/', import.meta.url));
const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page/app.js', 'app.js', 'text/javascript; charset=utf-8'],
  ['/page/style.css', 'style.css', 'text/css; charset=utf-8'],
  ['/page/icon.svg', 'icon.svg', 'image/svg+xml'],
] as const;

// Nothing may be loaded from or sent to another host, and nobody may frame the page; it has no inline script or style.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The routes of the page for people. */
export function pageRoutes(options: PageOptions, gate: PageGate, clock: { now(): number }): AppRoute[] {
  const { kind = 'mirror', live = false, accounts = [], assets = built } = options;
  const timeZone = options.timeZone ?? (kind === 'sandbox' ? 'UTC' : null);
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
        const about = {
          ...{ kind, live, hasPassword: gate.accounts !== null },
          accounts: (await gate.accounts?.()) ?? (kind === 'sandbox' ? accounts : []),
          ...{ now: clock.now(), timeZone: timeZone ?? machineZone(), isZoneKnown: timeZone !== null },
        };
        return jsonReply(c, JSON.stringify(about));
      },
    },
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
