// Servers as processes of their own, as any script can start them.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './workspace.mjs';

/**
 * Starts a program of Node.js, and waits for what it prints when it is ready.
 * @param {readonly string[]} args @param {RegExp} ready @param {Readonly<Record<string, string>>} [env]
 */
export async function startServer(args, ready, env = {}) {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let talk = '';

  /** @type {string} */
  const said = await new Promise((resolve, reject) => {
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on('line', (line) => {
        talk += `${line}\n`;
        const found = ready.exec(line)?.[0];
        if (found !== undefined) resolve(found);
      });
    void ended.then((code) =>
      reject(new Error(`${args.join(' ')} ended with status ${code}: ${talk}`)),
    );
  });
  return {
    said,
    close: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/**
 * Starts `calls serve`, and returns its address and keys.
 * @param {readonly string[]} [flags]
 */
export async function startSandboxProcess(flags = []) {
  const bin = join(root, 'packages/cli/dist/bin.js');
  const args = [bin, 'serve', '--port', '0', '--ready-json', ...flags];
  const { said, close } = await startServer(args, /^\{.*\}$/);
  const ready = JSON.parse(said);
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
    close,
  };
}
