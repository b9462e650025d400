import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  apiKeys,
  type ClientOptions,
  ConfigurationError,
  createClient,
} from '@call-attribution/core';
import { fakeApi } from '@call-attribution/core/testing';
import { describe, expect, test, vi } from 'vitest';
import { afterwards } from './support.ts';

const url = 'https://api.example.com';

function folder(files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'client-'));
  afterwards(() => rmSync(path, { recursive: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return path;
}

function refused(options: ClientOptions): ConfigurationError {
  try {
    createClient(options);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
  }
  throw new Error('was accepted');
}

/** The credentials that a client of this environment sends. */
async function sent(
  env: Record<string, string>,
  options: ClientOptions = {},
): Promise<Record<string, unknown>> {
  const server = await fakeApi().listen();
  afterwards(() => server.close());
  const client = createClient({ env: { CALLS_BASE_URL: server.url, ...env }, ...options });
  afterwards(() => client.close());
  await client.listCalls({ rows: 1 });
  const { access_key, secret_key, authorization } = server.requests[0]?.headers ?? {};
  return { access_key, secret_key, authorization };
}

describe('a client from the environment', () => {
  test('reads the URL and the keys, also from files that variables name', async () => {
    const cwd = folder({ access: 'key-one\n', secret: 'key-two\n' });
    const files = {
      CALLS_ACCESS_KEY_FILE: join(cwd, 'access'),
      CALLS_SECRET_KEY_FILE: join(cwd, 'secret'),
    };
    expect(await sent(files)).toEqual({ access_key: 'key-one', secret_key: 'key-two' });
    expect(await sent({ CALLS_API_VERSION: 'v2', CALLS_BEARER_TOKEN: 't' })).toEqual({
      authorization: 'Bearer t',
    });
  });

  test('lists everything that is missing in one error', () => {
    const error = refused({ env: {} });
    expect(error).toMatchObject({
      code: 'invalid_option',
      hint: expect.stringContaining('CALLS_ACCESS_KEY_FILE'),
    });
    expect(error.summary).toBe(
      'createClient() found no connection to use. CALLS_BASE_URL is missing: the URL of the API. CALLS_ACCESS_KEY is missing: the access key of the account. CALLS_SECRET_KEY is missing: the secret key of the account.',
    );
    const auth = apiKeys('a', 'b');
    expect(refused({ env: {}, auth }).summary).not.toContain('KEY');
    expect(refused({ env: {}, version: 'v2' }).message).toContain('CALLS_BEARER_TOKEN is missing');
  });

  test('says what is wrong with a setting that is there, and does not call it missing', () => {
    const { message } = refused({
      env: { CALLS_BASE_URL: 'api.example.com', CALLS_ACCESS_KEY: 'LEAK' },
    });
    expect(message).toContain('CALLS_BASE_URL must be a URL');
    expect(message).toContain('CALLS_SECRET_KEY is missing');
    expect(message).not.toMatch(/CALLS_BASE_URL is missing|LEAK/);
  });

  test('takes given options first, and no keys of the environment next to given credentials', async () => {
    const env = { CALLS_ACCESS_KEY: 'env-one', CALLS_SECRET_KEY: 'env-two' };
    expect(await sent(env, { auth: apiKeys('own-one', 'own-two'), version: undefined })).toEqual({
      access_key: 'own-one',
      secret_key: 'own-two',
    });
    expect(
      createClient({ env: { ...env, CALLS_BASE_URL: url, CALLS_API_VERSION: 'v3' } }).version,
    ).toBe('v3');
  });

  test('CALLS_LOG switches on the log of a client, and a wrong level is refused', async () => {
    const lines: string[] = [];
    const written = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line));
    afterwards(() => written.mockRestore());
    const env = { CALLS_ACCESS_KEY: 'key-one', CALLS_SECRET_KEY: 'key-two' };
    await sent({ ...env, CALLS_LOG: 'debug' });
    await sent({ ...env, CALLS_LOG: 'DEBUG', CALLS_LOG_FORMAT: 'json' });
    await sent({ ...env, CALLS_LOG: 'off' });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /Z debug call-attribution: attempt operation=list attempt=1 status=200 ms=\d+ /,
    );
    expect(JSON.parse(lines[1] as string)).toMatchObject({
      level: 'debug',
      operation: 'list',
      status: 200,
    });
    const { message, code } = refused({ env: { ...env, CALLS_BASE_URL: url, CALLS_LOG: 'dbug' } });
    expect(code).toBe('invalid_option');
    expect(message).toContain('CALLS_LOG must be debug, info, warn, error or off, not "dbug".');
  });

  test('sends keys of the environment to no other URL', async () => {
    process.env.CALLS_ACCESS_KEY = 'env-one';
    process.env.CALLS_SECRET_KEY = 'env-two';
    afterwards(() => {
      delete process.env.CALLS_ACCESS_KEY;
      delete process.env.CALLS_SECRET_KEY;
    });
    await expect(createClient({ baseUrl: url }).listCalls()).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
    expect(refused({ baseUrl: url, env: {} })).toMatchObject({
      summary: 'env is not read when baseUrl is given.',
    });
  });

  test('reads no configuration file', () => {
    const cwd = folder({
      'calls.config.json': JSON.stringify({ baseUrl: url, accessKey: 'a', secretKey: 'b' }),
    });
    const path = join(cwd, 'calls.config.json');
    expect(refused({ env: { CALLS_CONFIG: path } }).message).toContain('CALLS_BASE_URL is missing');
  });

  test('undefined keys are refused by name', () => {
    expect(() => apiKeys(undefined, 'b')).toThrow(
      'The access key must be a string; found undefined.',
    );
    expect(() => apiKeys('a', undefined)).toThrow(
      'The secret key must be a string; found undefined.',
    );
  });
});
