import type { FilterArgumentError, FilterSyntaxError, Problem } from '@call-attribution/query-dsl';
import { expectTypeOf, test } from 'vitest';
import {
  apiKeys,
  bearerToken,
  CallsError,
  type ClientOptions,
  createClient,
  type HttpError,
  type RequestOptions,
} from '../src/index.ts';

const { BASE_URL, ACCESS_KEY, SECRET_KEY, TOKEN } = process.env;

test('variables of the environment can be passed as they are: the types leave "not set" to the error at run time', () => {
  expectTypeOf(() =>
    createClient({ baseUrl: BASE_URL, auth: apiKeys(ACCESS_KEY, SECRET_KEY) }),
  ).toBeFunction();
  expectTypeOf(() => createClient({ baseUrl: BASE_URL, auth: bearerToken(TOKEN) })).toBeFunction();
});

test('a client whose URL and credentials come from the environment needs no options', () => {
  expectTypeOf(() => createClient()).toBeFunction();
  expectTypeOf(() => createClient({ auth: apiKeys(ACCESS_KEY, SECRET_KEY) })).toBeFunction();
  expectTypeOf(() =>
    createClient({ auth: bearerToken(TOKEN), legacyBaseUrl: BASE_URL }),
  ).toBeFunction();
});

test('CallsError.is narrows an error to the class with the code, and refuses codes that do not exist', () => {
  const error: unknown = null;
  if (CallsError.is(error, 'rate_limited')) {
    expectTypeOf(error).toExtend<HttpError>();
    expectTypeOf(error.code).toEqualTypeOf<'rate_limited'>();
    expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>();
  }

  if (CallsError.is(error, 'syntax')) expectTypeOf(error.problem).toEqualTypeOf<Problem>();
  if (CallsError.is(error, 'timeout', 'invalid_json'))
    expectTypeOf(error.code).toEqualTypeOf<'timeout' | 'invalid_json'>();
  if (CallsError.is(error)) expectTypeOf(error).toEqualTypeOf<CallsError>();

  // @ts-expect-error: no class has this code.
  CallsError.is(error, 'rate_limitd');
});

test('errors of filters have all members of the family', () => {
  expectTypeOf<FilterSyntaxError>().toExtend<CallsError>();
  expectTypeOf<FilterArgumentError>().toExtend<CallsError>();
});

test('options may be undefined, under exactOptionalPropertyTypes too', () => {
  const unset = undefined as undefined;
  expectTypeOf({
    timeout: { idle: unset },
    retry: { attempts: unset },
    proxy: unset,
  }).toExtend<ClientOptions>();
  expectTypeOf({ timeout: { total: unset }, signal: unset }).toExtend<RequestOptions>();
});
