import { expectTypeOf, test } from 'vitest';
import { apiKeys, bearerToken, createClient } from '../src/index.ts';
import { connectionOf, readSettings } from '../src/settings/index.ts';

const { BASE_URL, ACCESS_KEY, SECRET_KEY, TOKEN } = process.env;

test('variables of the environment can be passed as they are: the types leave "not set" to the error at run time', () => {
  expectTypeOf(() =>
    createClient({ baseUrl: BASE_URL, auth: apiKeys(ACCESS_KEY, SECRET_KEY) }),
  ).toBeFunction();
  expectTypeOf(() => createClient({ baseUrl: BASE_URL, auth: bearerToken(TOKEN) })).toBeFunction();
  expectTypeOf(() => createClient(connectionOf(readSettings()))).toBeFunction();
});

test('a client whose URL and credentials come from the environment needs no options', () => {
  expectTypeOf(() => createClient()).toBeFunction();
  expectTypeOf(() => createClient({ auth: apiKeys(ACCESS_KEY, SECRET_KEY) })).toBeFunction();
  expectTypeOf(() => createClient({ auth: bearerToken(TOKEN), legacyBaseUrl: BASE_URL })).toBeFunction();
});
