import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { credentialsFrom } from '../src/index.ts';

const keys = { accessKey: 'test_access_101', secretKey: 'test_secret_101' };
let root: string;
let folder: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'calls-keys-'));
  folder = join(root, 'keys');
  await mkdir(join(folder, 'more'), { recursive: true });
  const files = {
    '101.json': keys,
    'more/102.json': { bearerToken: 'test_bearer_102' },
    'half.json': { accessKey: 'test_access_101' },
    'both.json': { ...keys, bearerToken: 'test_bearer_102' },
    'other.json': { ...keys, password: 'test_secret_101' },
    'quoted.json': { ...keys, secretKey: '"test_secret_101"' },
    '../outside.json': keys,
  };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, name), JSON.stringify(content), { mode: 0o600 });
  await writeFile(join(folder, 'broken.json'), '{"accessKey": test_access_101', { mode: 0o600 });
  await symlink('../outside.json', join(folder, 'link.json'));
  await symlink('101.json', join(folder, 'near.json'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const onWarning = (message: string) => expect.unreachable(message);

test('files below the folder hold keys or a token', async () => {
  const source = credentialsFrom({ folder, onWarning });
  expect(await source('file:101.json', '101')).toMatchObject({ kind: 'keys' });
  expect(await source('file:near.json', '101')).toMatchObject({ kind: 'keys' });
  const token = await source('file:more/102.json', '102');
  expect(token).toMatchObject({ kind: 'bearer' });
  expect(JSON.stringify(token)).not.toContain('test_bearer');
});

test('a variable holds the same, or its parts have variables of their own', async () => {
  const env = {
    CALLS_101: JSON.stringify(keys),
    CALLS_103_BEARER_TOKEN: 'c',
    CALLS_102_ACCESS_KEY: 'a',
    CALLS_102_SECRET_KEY: 'b',
  };
  const source = credentialsFrom({ env });
  expect(await source('env:CALLS_101', '101')).toMatchObject({ kind: 'keys' });
  expect(await source('env:CALLS_102', '102')).toMatchObject({ kind: 'keys' });
  expect(await source('env:CALLS_103', '103')).toMatchObject({ kind: 'bearer' });
  await expect(source('env:CALLS_104', '104')).rejects.toMatchObject({
    code: 'credential_missing',
    message: expect.stringContaining(
      'The credential of account 104 (env:CALLS_104): nothing is there; set CALLS_104 to {',
    ),
  });
});

test.each([
  ['file:nowhere.json', 'there is no such file below the folder of keys.'],
  ['file:../outside.json', 'it lies outside of the folder of keys'],
  ['file:more/../../outside.json', 'it lies outside of the folder of keys'],
  ['file:link.json', 'it lies outside of the folder of keys'],
  ['file:/etc/hostname', 'it lies outside of the folder of keys'],
  ['file:', 'it lies outside of the folder of keys'],
  ['file:more', 'it cannot be read (EISDIR).'],
  ['file:half.json', '(file:half.json): secretKey is missing; it looks like {'],
  ['file:both.json', 'has keys and a token; keep one of the two'],
  [
    'file:other.json',
    'has an unknown name "password"; known names: accessKey, secretKey, bearerToken',
  ],
  ['file:quoted.json', 'quotes'],
  ['file:broken.json', 'is not JSON: line 1, column 15 should have a value'],
  ['test_access_101', 'a reference begins with file: or env:.'],
])('%s is refused without a secret: %s', async (reference, words) => {
  const error = await credentialsFrom({ folder, onWarning })(reference, '101').catch(
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ name: 'FleetError', code: 'credential_missing' });
  expect(error.message).toContain(words);
  expect(error.message).not.toMatch(/test_(?:secret|bearer)/);
});

test('without a folder there are no files', () =>
  expect(credentialsFrom({})('file:101.json', '101')).rejects.toThrow('Name one with --keys.'));

test('a file that others can read is used, with one warning', async () => {
  const warnings: string[] = [];
  await chmod(join(folder, '101.json'), 0o644);
  const source = credentialsFrom({ folder, onWarning: (message) => warnings.push(message) });
  await source('file:101.json', '101');
  await source('file:101.json', '101');
  await chmod(join(folder, '101.json'), 0o600);
  expect(warnings).toHaveLength(process.platform === 'win32' ? 0 : 1);
  expect(warnings.join()).not.toContain('test_');
});
