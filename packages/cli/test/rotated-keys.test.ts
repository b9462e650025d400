import { join } from 'node:path';
import { type FakeApiServer, fakeApi, faults, fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage } from './stage.ts';

const stage = openStage();
let server: FakeApiServer;
/** The access key that the API accepts now. */
let current = 'first';
beforeAll(async () => {
  server = await fakeApi({
    calls: fixtureCalls(20).map((call) => ({ ...call, acct_id: '101' })),
    faults: ({ headers }) =>
      JSON.stringify(headers).includes(`key-${current}`)
        ? undefined
        : faults.replace(401, JSON.stringify({ error: 'unauthorized' })),
  }).listen();
});
afterAll(() => server.close());

const keysOf = (name: string) =>
  ({ kind: 'keys', accessKey: `key-${name}`, secretKey: `secret-${name}` }) as const;

async function opening(cwd: string): Promise<string[]> {
  const store = await openStore(`sqlite:${join(cwd, 'calls.db')}`);
  const found: string[] = [];
  for (const name of ['first', 'second', 'reader'])
    if ((await store.findAccount(keysOf(name))) !== null) found.push(name);
  await store.close();
  return found;
}

test.each([
  ['with --account', ['--account', '101']],
  ['with the account of its calls', []],
])('after a rotation the old keys no longer open the copy of a sync %s', async (_, account) => {
  const cwd = stage.folder();

  const sync = async (name: string): Promise<number | null> => {
    const { accessKey, secretKey } = keysOf(name);
    const env = {
      CALLS_BASE_URL: server.url,
      CALLS_ACCESS_KEY: accessKey,
      CALLS_SECRET_KEY: secretKey,
    };
    return (await stage.quick(['sync', '--store', 'sqlite:calls.db', ...account], { cwd, env }))
      .code;
  };

  current = 'first';
  expect(await sync('first')).toBe(0);
  const store = await openStore(`sqlite:${join(cwd, 'calls.db')}`);
  await store.putCredential('101', keysOf('reader'));
  await store.close();
  expect(await opening(cwd)).toEqual(['first', 'reader']);

  // Keys that the API does not know yet neither open the copy nor close it to others.
  expect(await sync('second')).not.toBe(0);
  expect(await opening(cwd)).toEqual(['first', 'reader']);
  current = 'second';
  expect(await sync('first')).not.toBe(0);
  expect(await opening(cwd)).toEqual(['reader']);
  expect(await sync('second')).toBe(0);
  expect(await opening(cwd)).toEqual(['second', 'reader']);
  current = 'first';
  expect(await sync('first')).toBe(0);
  expect(await opening(cwd)).toEqual(['first', 'reader']);
});
