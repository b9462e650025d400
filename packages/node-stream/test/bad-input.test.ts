import { apiKeys, type Client, ConfigurationError, createClient } from '@call-attribution/core';
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

describe('wrong options are refused when a read begins', () => {
  test.each<[object, string]>([
    [{ row: 10 }, 'There is no option row. Did you mean rows?'],
    [{ rows: '10' }, 'rows must be a whole number of at least 1; got "10".'],
    [{ rows: 0 }, 'rows must be'],
    [{ prefetch: { page: 2 } }, 'There is no option prefetch.page. Did you mean prefetch.pages?'],
    [{ prefetch: '4' }, 'prefetch must be'],
    [{ window: { settle: 'soon' } }, "window.settle must be milliseconds or a string such as '30s'"],
    [{ window: true }, 'window must be false, or an object'],
    [{ onError: 'ignore' }, "onError must be 'fail' or 'skip', or a function; got \"ignore\""],
    [{ onChange: 'replace' }, "onChange must be 'again' or 'keep'"],
    [{ signal: {} }, 'signal must be an AbortSignal'],
    [{ filter: 7 }, 'filter must be a string in the language of q'],
    [{ headers: 'x-key: secret-value' }, 'headers must be an object; got a string.'],
    [{ now: 5 }, 'now must be a function; got 5.'],
    [{ marks: 1 }, 'marks must be true or false; got 1.'],
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
