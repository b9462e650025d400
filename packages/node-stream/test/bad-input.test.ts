import { apiKeys, ConfigurationError, createClient } from '@call-attribution/core';
import { where } from '@call-attribution/query-dsl';
import { expect, test } from 'vitest';
import { createCallByteStream, createCallStream, syncCalls, syncInto } from '../src/index.ts';

const client = createClient({ baseUrl: 'http://127.0.0.1:9', auth: apiKeys('a', 'b') });
const refused = async (run: () => unknown): Promise<string> => {
  try {
    await run();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error('It was accepted.');
};

// Nothing listens at the address of the client: a request would be another error.
test.each([
  ['a misspelled field', 'talk_minuts:[1 TO *]'],
  ['a range without a bound', where('talk_minutes') as unknown as string],
])('%s in a filter is refused by a stream and by a list with the same words', async (_, filter) => {
  const wordsOf = (run: () => PromiseLike<unknown>) => Promise.resolve().then(run).catch(String);
  const byStream = await wordsOf(() => createCallStream(client, { filter }).toArray());
  const byList = await wordsOf(() => client.listCalls({ filter }));
  expect(byStream).toMatch(/Did you mean "talk_minutes"|has no bound yet/);
  expect(byStream).toBe(byList);
});

test('a sync into what is no sink, or with what keeps no state, says what it needs', async () => {
  const store = { calls: () => {}, upsert: () => {} };
  expect(await refused(() => syncInto(client, store as never))).toMatch(
    /no sink, which has load and commit.*mirrorSink\(store, account\).*syncAccount\(client, store\)/,
  );
  const withStore = async () => {
    for await (const _ of syncCalls(client, { state: store as never }));
  };
  expect(await refused(withStore)).toMatch(/state .*has load and save/);
  expect(await refused(() => syncCalls(client, {} as never).next())).toMatch(/load and save/);
});

test.each<[object, string]>([
  [{ row: 10 }, 'There is no option row. Did you mean rows?'],
  [{ rows: '10' }, 'rows must be a whole number of at least 1; got a string.'],
  [{ prefetch: 0 }, 'prefetch must be'],
  [{ timeout: { idel: 5 } }, 'There is no option timeout.idel. Did you mean timeout.idle?'],
  [{ retry: false }, 'retry must be an object with attempts'],
])('a stream refuses the options %j when it is made', async (options, message) => {
  expect(await refused(() => createCallStream(client, options as never))).toContain(message);
  expect(await refused(() => createCallByteStream(client, options as never))).toContain(message);
});
