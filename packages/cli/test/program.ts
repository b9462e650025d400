import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '@call-attribution/test-tools/bundle';

/** A finished run of `calls` as a real process. */
export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a run is started. */
export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly input?: string;
  /**
   * Called with everything written so far, each time something is; a way to press Ctrl-C at the
   * right moment.
   */
  readonly watch?: (seen: { stdout: string; stderr: string }, child: ChildProcess) => void;
  /** Called once with the running process. */
  readonly started?: (child: ChildProcess) => void;
  /** A command line to run instead of node. */
  readonly shell?: readonly [string, ...string[]];
  /** Where stdout goes instead of being collected: an open file. */
  readonly stdout?: number;
}

/**
 * Bundles the program into a folder, so that tests run a real process without a build. Resolves
 * with the path of the bin.
 */
export async function bundleProgram(made: string): Promise<string> {
  const bin = join(made, 'src', 'bin.js');
  await bundle({
    entryPoints: [join(import.meta.dirname, '../src/bin.ts')],
    outdir: join(made, 'src'),
    splitting: true,
    target: 'node20',
  });
  copyFileSync(join(import.meta.dirname, '../package.json'), join(made, 'package.json'));
  return bin;
}

/** The end of the generated calls that tests read, so that they are the same on every day. */
export const to = '2026-11-01 00:00:00';

/** Starts `calls serve` over 600 generated calls; resolves once it listens. */
export async function serveSandbox(
  bin: string,
): Promise<{ env: Record<string, string>; token: string; close: () => Promise<void> }> {
  const args = [
    'serve',
    '--port',
    '0',
    '--records',
    '600',
    '--seed',
    '5',
    '--to',
    to,
    '--ready-json',
  ];
  const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (data) => resolve(String(data)));
    child.once('close', (code) => reject(new Error(`calls serve ended with status ${code}`)));
  });
  const { url, legacyUrl, accounts } = JSON.parse(line);
  return {
    env: {
      CALLS_BASE_URL: url,
      CALLS_LEGACY_BASE_URL: legacyUrl,
      CALLS_ACCESS_KEY: accounts[0].accessKey,
      CALLS_SECRET_KEY: accounts[0].secretKey,
    },
    token: accounts[0].bearerToken,
    async close() {
      child.kill();
      await closed;
    },
  };
}

/** Runs node and collects what it says. The environment has nothing in it that is not given. */
export function runNode(argv: readonly string[], options: RunOptions): Promise<Finished> {
  const seen = { stdout: '', stderr: '' };
  const [program, ...args] = options.shell ?? [process.execPath, ...argv];
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { PATH: process.env.PATH ?? '', HOME: options.cwd ?? tmpdir(), ...options.env },
    stdio: [options.input === undefined ? 'ignore' : 'pipe', options.stdout ?? 'pipe', 'pipe'],
  });
  options.started?.(child);
  child.stdin?.end(options.input);
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      seen[name] += text;
      options.watch?.(seen, child);
    });
  }

  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...seen }));
  });
}
