import { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fixtureCalls } from '@call-attribution/core/testing';
import { FilterSyntaxError, where } from '@call-attribution/query-dsl';
import { describe, expect, it } from 'vitest';
import { toCsv, toNdjson } from '../src/encoders/index.ts';
import { aggregate, count, filterCalls } from '../src/operators/index.ts';
import { all, callOf, textOf } from './calls-of.ts';

const calls = fixtureCalls(200, 3);

describe('filterCalls', () => {
  it.each([
    ['text', 'talk_minutes:[10 TO *]'],
    ['a builder', where('talk_minutes').atLeast(10)],
    ['a function', ({ talk_minutes }: { talk_minutes: string }) => Number(talk_minutes) >= 10],
  ])('lets through what matches %s', async (_, filter) => {
    const expected = calls.filter(({ talk_minutes }) => Number(talk_minutes) >= 10);
    expect(await all(filterCalls(filter)(calls))).toEqual(expected);
  });

  it('ignores the channel, or treats it as v3 servers do', async () => {
    const pair = [callOf({ sid: 'web' }), callOf({ sid: 'ad', channel: 'Call Extension' })];
    const left = async (filter: string, asV3: boolean) =>
      (await all(filterCalls(filter, { asV3 })(pair))).map(({ sid }) => sid);
    expect(await left('talk_minutes:[0 TO *]', false)).toEqual(['web', 'ad']);
    expect(await left('talk_minutes:[0 TO *]', true)).toEqual(['web']);
    expect(await left('inc_gce:1', true)).toEqual(['web', 'ad']);
  });

  it('refuses a filter that does not parse before anything runs', () => {
    expect(() => filterCalls('talk_minutes:5')).toThrow(FilterSyntaxError);
  });
});

describe('operators in a row', () => {
  it('do the same in a pipeline and as iterables', async () => {
    const grouping = { by: ['channel'], measures: { calls: count() } } as const;
    const chunks: Uint8Array[] = [];
    await pipeline(
      Readable.from(calls),
      filterCalls(({ rank }) => rank === '1'),
      aggregate(grouping),
      toNdjson(),
      async (bytes: AsyncIterable<Uint8Array>) => {
        for await (const chunk of bytes) chunks.push(chunk);
      },
    );
    const iterated = toNdjson<unknown>()(aggregate(grouping)(filterCalls(({ rank }) => rank === '1')(calls)));
    expect(Buffer.concat(chunks).toString()).toBe(await textOf(iterated));
    expect(chunks.length).toBe(1);
  });

  it('are streams by Duplex.from', async () => {
    const csv = Readable.from(calls)
      .pipe(Duplex.from(filterCalls(({ rank }) => rank === '1')))
      .pipe(Duplex.from(toCsv({ columns: ['sid'] })));
    expect((await textOf(csv)).split('\r\n').length).toBe(
      calls.filter(({ rank }) => rank === '1').length + 2,
    );
  });
});
