import type { Call } from '@call-attribution/core';
import { describe, expectTypeOf, test } from 'vitest';
import { toCsv, toParquet } from '../src/encoders/index.ts';
import { aggregate, count, join, mapCalls, max, through, tumbling } from '../src/operators/index.ts';

declare const calls: AsyncIterable<Call>;

describe('the types of operators', () => {
  test('rows know their key and measured columns', async () => {
    const measures = { calls: count(), longest: max('talk_minutes') };
    for await (const row of aggregate({ by: ['channel'], measures })(calls)) {
      expectTypeOf(row.channel).toEqualTypeOf<string | number | boolean | null>();
      expectTypeOf(row.calls).toEqualTypeOf<number>();
      expectTypeOf(row.longest).toEqualTypeOf<number | null>();
      // @ts-expect-error no such column
      row.minutes;
    }
    for await (const row of tumbling({ size: '1h', by: { day: (call) => call.date_added }, measures })(
      calls,
    )) {
      expectTypeOf(row.from).toEqualTypeOf<string>();
      expectTypeOf(row.day).toEqualTypeOf<string | number | boolean | null>();
    }
  });

  test('a join adds columns that may be missing', async () => {
    const table = new Map([['7001', { cost: 1 }]]);
    for await (const row of join(table, { on: 'ppc_campaign_id' })(calls)) {
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
    mapCalls((call) => call.sidd);
    const groups = aggregate({ by: ['channel'], measures: { calls: count() } });
    // @ts-expect-error no such column of the rows of the chain
    through(calls, groups, toCsv({ columns: ['minutes'] }));
    through(calls, groups, toCsv({ columns: ['calls'] }));
    through(calls, groups, toCsv());
    // @ts-expect-error no such field
    toParquet({ columns: ['sidd'] });
    // @ts-expect-error no length of time
    tumbling({ size: '1 hour', measures: { calls: count() } });
  });
});
