import { apiKeys, type Client, ConfigurationError, createClient } from '@call-attribution/core';
import { where } from '@call-attribution/query-dsl';
import { describe, expect, test } from 'vitest';
import { createCallByteStream, createCallStream, memoryState, syncCalls, syncInto } from '../src/index.ts';

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

describe('wrong options are refused when a read begins', () => {
  test.each<[object, string]>([
    [{ row: 10 }, 'There is no option row. Did you mean rows?'],
    [{ rows: '10' }, 'rows must be a whole number of at least 1; got "10".'],
    [{ rows: 0 }, 'rows must be'],
    [{ prefetch: { pages: 2 } }, 'prefetch must be'],
    [{ prefetch: '4' }, 'prefetch must be'],
    [{ onError: 'ignore' }, "onError must be 'fail' or 'skip', or a function; got \"ignore\""],
    [{ onChange: 'keep' }, 'There is no option onChange.'],
    [{ signal: {} }, 'signal must be an AbortSignal'],
    [{ filter: 7 }, 'filter must be a string in the language of q'],
    [{ headers: 'x-key: secret-value' }, 'headers must be an object; got a string.'],
    [{ window: {} }, 'There is no option window.'],
  ])('%j', async (options, message) => {
    expect(await refused(() => createCallStream(client, options as never))).toContain(message);
  });

  test('the other ways to read refuse them, too', async () => {
    const wrong = { rosw: 5 } as never;
    const message = 'There is no option rosw. Did you mean rows?';
    expect(await refused(() => createCallByteStream(client, wrong))).toContain(message);
    expect(
      await refused(() => syncCalls(client, { state: memoryState(), ...(wrong as object) }).next()),
    ).toContain(message);
    expect(await refused(() => syncInto(client, {} as never, {}))).toContain(
      'sink must be a sink with load()',
    );
    expect(await refused(() => syncCalls(client, {} as never).next())).toContain(
      'state must be a state such as',
    );
    for (const none of [undefined, null, {}, 'https://api.example'])
      expect(await refused(() => createCallStream(none as unknown as Client))).toContain(
        'client must be a client made by createClient()',
      );
  });
});
