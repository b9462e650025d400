import type { Call } from '@call-attribution/core';
import { describe, expectTypeOf, test } from 'vitest';
import { toCsv, toParquet } from '../src/encoders/index.ts';
import {
  aggregate,
  count,
  join,
  mapCalls,
  max,
  through,
  tumbling,
} from '../src/operators/index.ts';
import { fileSink } from '../src/sinks/index.ts';

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

    for await (const row of tumbling({
      size: '1h',
      by: { day: (call) => call.date_added },
      measures,
    })(calls)) {
      expectTypeOf(row.from).toEqualTypeOf<string>();
      expectTypeOf(row.day).toEqualTypeOf<string | number | boolean | null>();
    }
  });

  test('a join adds a row that may be missing', async () => {
    const table = [{ ppc_campaign_id: '7001', cost: 1 }];
    for await (const row of join(table, { on: 'ppc_campaign_id', as: 'spend' })(calls)) {
      expectTypeOf(row.spend).toEqualTypeOf<{ ppc_campaign_id: string; cost: number } | null>();
      expectTypeOf(row.sid).toEqualTypeOf<string>();
    }
  });

  test('a file says by its name how it is encoded', () => {
    const folder: string = 'x';
    fileSink<Call>(`${folder}/calls.csv.gz`);
    fileSink<Call>('any', { encode: toCsv() });
    fileSink<Buffer>('any', { encode: [] });

    // @ts-expect-error no encoder has this name
    fileSink<Call>('calls.txt');

    // @ts-expect-error Parquet has a compression of its own
    fileSink<Call>('calls.parquet.gz');

    // @ts-expect-error calls are no bytes
    fileSink<Call>('calls', { encode: [] });

    // @ts-expect-error a name is no sink
    through(calls).into('calls.csv');
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
