import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox, SandboxOptions } from '@call-attribution/sandbox';
import { afterAll, inject } from 'vitest';
import { type QuickOptions, runQuick } from './in-process.ts';
import { type Finished, type RunOptions, runNode, to } from './program.ts';

/** An environment in which nothing is configured. */
export const nobody = {
  CALLS_BASE_URL: '',
  CALLS_LEGACY_BASE_URL: '',
  CALLS_ACCESS_KEY: '',
  CALLS_SECRET_KEY: '',
  CALLS_TIME_ZONE: '',
};

/** The program and a sandbox for it to talk to. */
export interface Stage {
  /** Path of the bundled program. */
  readonly bin: string;
  /** Address of the sandbox. */
  readonly url: string;
  /** What a person would have exported. */
  readonly env: Readonly<Record<string, string>>;
  /** An empty folder. */
  folder(): string;
  /**
   * Runs `calls` against the sandbox in this process, which is many times quicker than starting
   * one.
   */
  quick(args: string | readonly string[], options?: QuickOptions): Promise<Finished>;
  /** Runs `calls` against the sandbox as a process of its own. */
  calls(args: readonly string[], options?: RunOptions): Promise<Finished>;
  close(): Promise<void>;
}

/** A stage whose sandbox may be made to fail. */
export interface OwnStage extends Stage {
  readonly sandbox: Sandbox;
}

/**
 * The bundled program and the sandbox of 600 calls that all test files share; closed after the
 * tests of the file.
 */
export function openStage(): Stage {
  const stage = stageOf(inject('callsEnv'), async () => {});
  afterAll(() => stage.close());
  return stage;
}

/**
 * The bundled program and a sandbox that only this test file uses, so that it may switch faults on.
 */
export async function openOwnStage(options: SandboxOptions): Promise<OwnStage> {
  const { startSandbox } = await import('@call-attribution/sandbox');
  const sandbox = await startSandbox({ seed: 5, to, ...options });
  const account = sandbox.accounts[0];
  const env = {
    CALLS_BASE_URL: sandbox.url,
    CALLS_LEGACY_BASE_URL: sandbox.url,
    CALLS_ACCESS_KEY: account?.accessKey ?? '',
    CALLS_SECRET_KEY: account?.secretKey ?? '',
  };
  return { ...stageOf(env, () => sandbox.close()), sandbox };
}

function stageOf(connection: Record<string, string>, close: () => Promise<void>): Stage {
  const bin = inject('callsBin');
  const env = { ...connection, CALLS_TIME_ZONE: 'America/New_York' };
  const work = mkdtempSync(join(tmpdir(), 'calls-test-'));
  const folder = (): string => mkdtempSync(join(work, 'work-'));
  return {
    bin,
    url: connection.CALLS_BASE_URL ?? '',
    env,
    folder,
    calls: (args, run = {}) =>
      runNode([bin, ...args], { cwd: work, ...run, env: { ...env, ...run.env } }),
    quick: (args, run = {}) =>
      runQuick(args, { cwd: work, ...run, env: { HOME: work, ...env, ...run.env } }),
    async close() {
      await close();
      rmSync(work, { recursive: true, force: true });
    },
  };
}

/** A server on loopback that treats every request alike. */
export async function serverThat(
  respond: (response: ServerResponse, url: string) => unknown,
): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(({ url = '' }, response) => respond(response, url));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
