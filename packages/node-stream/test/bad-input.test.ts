import { apiKeys, ConfigurationError, createClient } from '@call-attribution/core';
import { where } from '@call-attribution/query-dsl';
import { describe, expect, test } from 'vitest';
import { toCsv, toParquet } from '../src/encoders/index.ts';
import { createCallByteStream, createCallStream } from '../src/index.ts';
import {
  aggregate,
  count,
  dedupe,
  join,
  mapCalls,
  sessions,
  topN,
  tumbling,
} from '../src/operators/index.ts';
import { fileSink } from '../src/sinks/index.ts';

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

describe('operators, encoders and sinks refuse options they do not have, and wrong types, when they are made', () => {
  const measures = { calls: count() };
  const any = (value: unknown): never => value as never;
  test.each<[string, () => unknown, string]>([
    [
      'aggregate',
      () => aggregate(any({ measures, maxGroup: 5 })),
      'no option maxGroup. Did you mean maxGroups?',
    ],
    ['aggregate', () => aggregate(any({})), 'measures must be an object; got nothing.'],
    ['dedupe', () => dedupe(any({ key: 'ani', capcity: 5 })), 'no option capcity. Did you mean capacity?'],
    ['join', () => join([], any({ one: 'sid', as: 'row' })), 'no option one. Did you mean on?'],
    [
      'join',
      () => join([], any({ as: 'row' })),
      'on must be the name of a field or a function; got nothing.',
    ],
    ['mapCalls', () => mapCalls((call) => call, any({ concurency: 2 })), 'Did you mean concurrency?'],
    ['tumbling', () => tumbling(any({ measures, size: '1d', latenes: '1h' })), 'Did you mean lateness?'],
    ['tumbling', () => tumbling(any({ measures, size: '1d', step: '1h' })), 'no option step'],
    ['sessions', () => sessions(any({ measures, gap: '1h', gpa: 1 })), 'no option gpa. Did you mean gap?'],
    ['topN', () => topN(any({ count: 1, by: 'sid', withn: 'x' })), 'Did you mean within?'],
    ['toCsv', () => toCsv(any({ column: ['sid'] })), 'no option column. Did you mean columns?'],
    ['toCsv', () => toCsv(any({ delimiter: ':' })), 'delimiter must be'],
    ['toParquet', () => toParquet(any({ rowGroupsize: 5 })), 'Did you mean rowGroupSize?'],
    [
      'fileSink',
      () => fileSink('a.csv', any({ encoding: toCsv() })),
      'no option encoding. Known options: encode, resume, metadata, receipt, clock.',
    ],
    [
      'fileSink',
      () => fileSink('a.csv', any({ encode: 'csv' })),
      'encode must be an encoder such as toCsv()',
    ],
  ])('%s', async (_, make, message) => {
    expect(await refused(make)).toContain(message);
  });
});
