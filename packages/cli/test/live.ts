import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach } from 'vitest';
import type { Stage } from './stage.ts';

/** A command that runs until it is stopped. */
export interface Live {
  readonly child: ChildProcess;
  said(): { stdout: string; stderr: string };
  /** Waits until one of the outputs has it. */
  until(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Sends a signal; resolves with the exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** Starts `calls` as a process of its own; it is killed after the test at the latest. */
export function startLive(
  stage: Stage,
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = stage.folder(),
): Live {
  const child = spawn(process.execPath, [stage.bin, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const seen = { stdout: '', stderr: '' };
  const waits = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      seen[name] += text;
      for (const look of waits) look();
    });
  }

  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    child,
    said: () => seen,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(seen.stdout) ?? pattern.exec(seen.stderr);
          if (!match) return;
          waits.delete(look);
          resolve(match);
        };

        waits.add(look);
        closed.then((code) =>
          reject(new Error(`ended with ${code} before ${pattern}: ${seen.stderr}`)),
        );
        look();
      }),
    stop: (signal = 'SIGINT') => {
      child.kill(signal);
      return closed;
    },
  };
}

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});
