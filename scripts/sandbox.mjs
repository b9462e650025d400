// Starts `calls serve` as a process of its own, as any script can, and returns its address and
// keys.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './workspace.mjs';

/** @param {readonly string[]} [flags] */
export async function startSandboxProcess(flags = []) {
  const bin = join(root, 'packages/cli/dist/bin.js');
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0', '--ready-json', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let talk = '';
  child.stderr.on('data', (text) => {
    talk += text;
  });
  const lines = createInterface({ input: child.stdout });

  /** @type {string} */
  const line = await new Promise((resolve, reject) => {
    lines.once('line', resolve);
    child.once('exit', (code) =>
      reject(new Error(`calls serve ended with status ${code}: ${talk}`)),
    );
  });
  const ready = JSON.parse(line);
  const [account] = ready.accounts;
  return {
    ready,
    env: {
      CALLS_BASE_URL: ready.url,
      CALLS_LEGACY_BASE_URL: ready.legacyUrl,
      CALLS_API_VERSION: 'v3',
      CALLS_ACCESS_KEY: account.accessKey,
      CALLS_SECRET_KEY: account.secretKey,
      CALLS_TIME_ZONE: 'America/New_York',
    },
    close: () => new Promise((resolve) => child.once('exit', resolve).kill('SIGTERM')),
  };
}
