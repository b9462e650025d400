import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundleProgram, serveSandbox } from './program.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the bundled `calls`. */
    callsBin: string;
    /**
     * Environment that points at the sandbox all test files share. Nothing in it may be changed.
     */
    callsEnv: Record<string, string>;
    /** Bearer token of that sandbox. */
    callsToken: string;
  }
}

/** Bundles `calls` and starts one sandbox with it, for all test files of this package. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'calls-bundle-'));
  const bin = await bundleProgram(folder);
  const sandbox = await serveSandbox(bin);
  project.provide('callsBin', bin);
  project.provide('callsEnv', sandbox.env);
  project.provide('callsToken', sandbox.token);
  return async () => {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  };
}
