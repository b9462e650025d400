import { type Sandbox, type SandboxOptions, startSandbox } from '@call-attribution/sandbox';
import { vi } from 'vitest';
import { type QuickOptions, runQuick } from './in-process.ts';
import { bundleProgram, type Finished, type Program, type RunOptions } from './program.ts';

// A process takes a second to start on a busy machine, and some tests start a dozen.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** The program and a sandbox for it to talk to. */
export interface Stage {
  readonly program: Program;
  readonly sandbox: Sandbox;
  /** What a person would have exported. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs `calls` against the sandbox in this process, which is many times quicker than starting one. */
  quick(args: readonly string[], options?: QuickOptions): Promise<Finished>;
  /** Runs `calls` against the sandbox as a process of its own. */
  calls(args: readonly string[], options?: RunOptions): Promise<Finished>;
  close(): Promise<void>;
}

/** Sets the stage: a bundled program, a sandbox, and its keys in the environment. */
export async function openStage(options: SandboxOptions = {}): Promise<Stage> {
  const [program, sandbox] = await Promise.all([
    bundleProgram(),
    startSandbox({ records: 600, seed: 5, ...options }),
  ]);
  const account = sandbox.accounts[0];
  const env = {
    CALLS_BASE_URL: sandbox.url,
    CALLS_LEGACY_BASE_URL: sandbox.legacyUrl,
    CALLS_ACCESS_KEY: account?.accessKey ?? '',
    CALLS_SECRET_KEY: account?.secretKey ?? '',
    CALLS_TIME_ZONE: 'America/New_York',
  };
  const work = program.folder();
  return {
    program,
    sandbox,
    env,
    calls: (args, run = {}) => program.run(args, { ...run, env: { ...env, ...run.env } }),
    quick: (args, run = {}) => runQuick(args, { cwd: work, ...run, env: { HOME: work, ...env, ...run.env } }),
    async close() {
      await sandbox.close();
      program.remove();
    },
  };
}
