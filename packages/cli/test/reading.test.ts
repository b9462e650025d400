import { type Sandbox, startSandbox } from '@call-attribution/service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleProgram, type Program, type RunOptions } from './program.ts';

let program: Program;
let sandbox: Sandbox;
let env: Record<string, string>;
beforeAll(async () => {
  [program, sandbox] = await Promise.all([bundleProgram(), startSandbox({ records: 600, seed: 5 })]);
  const account = sandbox.accounts[0];
  env = {
    CALLS_BASE_URL: sandbox.url,
    CALLS_LEGACY_BASE_URL: sandbox.legacyUrl,
    CALLS_ACCESS_KEY: account?.accessKey ?? '',
    CALLS_SECRET_KEY: account?.secretKey ?? '',
    CALLS_TIME_ZONE: 'America/New_York',
  };
});
afterAll(async () => {
  await sandbox.close();
  program.remove();
});
const calls = (args: string[], options: RunOptions = {}) =>
  program.run(args, { ...options, env: { ...env, ...options.env } });

test('version and help', async () => {
  const version = await calls(['--version']);
  expect(version).toMatchObject({ code: 0, stderr: '' });
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const help = await calls(['--help']);
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toContain('calls demo');
});

test('list', async () => {
  const result = await calls(['list', '-n', '3']);
  expect(result.code).toBe(0);
});
