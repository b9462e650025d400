import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answer, Route } from '../http/exchange.ts';

/** An account as the page shows it. */
export interface PageAccount {
  readonly id: string;
  readonly name: string;
  /** How many calls it had at the start. */
  readonly records: number;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bearerToken: string;
}

/** What the page at `/` tells about its service. */
export interface PageOptions {
  /** A sandbox shows its test keys; a mirror asks for one's own. Default `mirror`. */
  readonly life?: 'sandbox' | 'mirror';
  /** Whether new calls come in. Default false. */
  readonly live?: boolean;
  /** Accounts with test keys, for a sandbox only. Default none. */
  readonly accounts?: readonly PageAccount[];
  /** Folder of the built page. Default the one inside this package. */
  readonly assets?: string;
}

const built = fileURLToPath(new URL('./assets/', import.meta.url));
const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page/app.js', 'app.js', 'text/javascript; charset=utf-8'],
  ['/page/style.css', 'style.css', 'text/css; charset=utf-8'],
  ['/page/icon.svg', 'icon.svg', 'image/svg+xml'],
] as const;

// Nothing from elsewhere may be loaded, asked or framed; the page has no inline script or style.
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

/** The routes of the human page. */
export function pageRoutes(options: PageOptions = {}): Route[] {
  const { life = 'mirror', live = false, accounts = [], assets = built } = options;
  const about = JSON.stringify({ life, live, accounts: life === 'sandbox' ? accounts : [] });
  return [
    ...files.map(([path, file, type]) => ({ path, handle: () => fileAnswer(join(assets, file), type) })),
    {
      path: '/page/about.json',
      handle: () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: about }),
    },
  ];
}

async function fileAnswer(file: string, type: string): Promise<Answer> {
  try {
    const headers = {
      'content-type': type,
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
    };
    return { status: 200, headers, body: await readFile(file) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const body = 'The page is made when the package is built, and this one is not: run its build script.\n';
    return { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
  }
}
