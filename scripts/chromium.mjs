// The browser for scripts, in the places where `test-tools` looks for that of the drills.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './workspace.mjs';

const places = [
  process.env.CALLS_TEST_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** Starts the browser, or gives null where there is none. @returns {Promise<any>} */
export async function launchChromium() {
  const executablePath = places.find((path) => path && existsSync(path));
  if (executablePath === undefined) return null;
  const { chromium } = createRequire(join(root, 'packages/test-tools/package.json'))('playwright-core');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}
