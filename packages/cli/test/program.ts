import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

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
  /** Called with everything written so far, each time something is; a way to press Ctrl-C at the right moment. */
  readonly watch?: (seen: { stdout: string; stderr: string }, child: ChildProcess) => void;
  /** Called once with the running process. */
  readonly started?: (child: ChildProcess) => void;
  /** Where stdout goes instead of being collected: an open file. */
  readonly stdout?: number;
}

/** The program, bundled from its sources, and a folder for what it writes. */
export interface Program {
  /** Path of the bundled bin. */
  readonly bin: string;
  /** A fresh folder. */
  folder(): string;
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  remove(): void;
}

/**
 * Bundles the sources of this workspace into one folder, so that tests drive a real process without a build. Outside
 * packages stay where they are: native ones could not be bundled, and the others need not be.
 */
export async function bundleProgram(): Promise<Program> {
  const made = mkdtempSync(join(tmpdir(), 'calls-test-'));
  const bin = join(made, 'src', 'bin.js');
  await build({
    entryPoints: [join(import.meta.dirname, '../src/bin.ts')],
    outdir: join(made, 'src'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['@call-attribution/source', 'import', 'node'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
    plugins: [
      {
        name: 'outside-packages-stay',
        setup({ onResolve, resolve }) {
          onResolve({ filter: /^[^./]/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
            if (pluginData === 'seen' || path.startsWith('node:') || path.startsWith('@call-attribution/'))
              return undefined;
            const found = await resolve(path, { importer, resolveDir, kind, pluginData: 'seen' });
            return found.errors.length > 0 || !found.path.startsWith('/')
              ? undefined
              : { path: found.path, external: true };
          });
        },
      },
    ],
  });
  const { copyFileSync } = await import('node:fs');
  copyFileSync(join(import.meta.dirname, '../package.json'), join(made, 'package.json'));
  return {
    bin,
    folder: () => mkdtempSync(join(made, 'work-')),
    run: (args, options = {}) => runNode([bin, ...args], { cwd: made, ...options }),
    remove: () => rmSync(made, { recursive: true, force: true }),
  };
}

/** Runs node and collects what it says. The environment has nothing in it that is not given. */
export function runNode(argv: readonly string[], options: RunOptions): Promise<Finished> {
  const seen = { stdout: '', stderr: '' };
  const child = spawn(process.execPath, argv, {
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
