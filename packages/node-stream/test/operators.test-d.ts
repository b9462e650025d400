import type { Call } from '@call-attribution/core';
import { describe, expectTypeOf, test } from 'vitest';
import { toCsv, toParquet } from '../src/encoders/index.ts';
import type { Mark } from '../src/index.ts';
import { aggregate, collect, count, join, mapCalls, max, tumbling } from '../src/operators/index.ts';

declare const calls: AsyncIterable<Call>;
declare const marked: AsyncIterable<Call | Mark>;

describe('the types of operators', () => {
  test('rows know their key and measured columns', async () => {
    const measures = { calls: count(), longest: max('talk_minutes'), all: collect() };
    for await (const row of aggregate({ by: ['channel'], measures }).over(calls)) {
      expectTypeOf(row.channel).toEqualTypeOf<string | number | null>();
      expectTypeOf(row.calls).toEqualTypeOf<number>();
      expectTypeOf(row.longest).toEqualTypeOf<number | null>();
      expectTypeOf(row.all).toEqualTypeOf<Call[]>();
      // @ts-expect-error no such column
      row.minutes;
    }
    for await (const row of tumbling({ size: '1h', by: { day: (call) => call.date_added }, measures }).over(
      calls,
    )) {
      expectTypeOf(row.from).toEqualTypeOf<string>();
      expectTypeOf(row.day).toEqualTypeOf<string | number | null>();
    }
  });

  test('marks come out where marks went in', async () => {
    const mapped = mapCalls((call) => call.sid);
    for await (const sid of mapped.over(calls)) expectTypeOf(sid).toEqualTypeOf<string>();
    for await (const item of mapped.over(marked)) expectTypeOf(item).toEqualTypeOf<string | Mark>();
  });

  test('a join adds columns that may be missing', async () => {
    const table = new Map([['7001', { cost: 1 }]]);
    for await (const row of join(table, { on: 'ppc_campaign_id' }).over(calls)) {
      expectTypeOf(row.cost).toEqualTypeOf<number | undefined>();
      expectTypeOf(row.sid).toEqualTypeOf<string>();
    }
  });

  test('names that are not fields do not compile', () => {
    // @ts-expect-error no such field
    aggregate({ by: ['chanel'], measures: { calls: count() } });
    // @ts-expect-error no such field
    aggregate({ measures: { longest: max('talk') } });
    // @ts-expect-error no such field
    toCsv({ columns: ['sidd'] });
    // @ts-expect-error no such field
    toParquet({ columns: ['sidd'] });
    // @ts-expect-error no length of time
    tumbling({ size: '1 hour', measures: { calls: count() } });
  });
});
