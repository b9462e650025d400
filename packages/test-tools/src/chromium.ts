import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = [process.env.CALLS_TEST_CHROMIUM, '/usr/bin/chromium'];
const args =
  '--no-sandbox --disable-gpu --disable-quic --disable-background-networking --disable-sync';

/** The browser of this machine, or null with one line that says so; in CI it must be there. */
export function findChromium(): string | null {
  const found = places.find((path) => path && existsSync(path));
  if (found) return found;
  const words = 'no chromium found (CALLS_TEST_CHROMIUM, /usr/bin/chromium)';
  if (process.env.CI)
    throw new Error(`${words}: CI must install one, the page is not tested without it`);
  process.stderr.write(`${words}: the tests of the page are left out\n`);
  return null;
}

/** Starts it without a window, and without the services of its own that ask the network. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: args.split(' ') });
}
