import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { count, distinct, type Measure, max, mean, min, percentile, sum } from '../src/operators/index.ts';

type Row = { sid?: string; v?: unknown };

function measured<R>(measure: Measure<R, Row>, values: readonly unknown[]): R {
  const accumulator = measure();
  for (const v of values) accumulator.add({ v });
  return accumulator.result();
}

const runs = { numRuns: Number(process.env.CALLS_RUNS ?? 100) };

describe('measures', () => {
  const cases: [string, Measure<unknown, Row>, unknown[], unknown][] = [
    ['count counts every item', count(), [1, null, 'x'], 3],
    ['sum adds decimals as on paper', sum('v'), ['0.1', '0.2', '0.3'], 0.6],
    ['sum takes numbers and leaves out what is empty', sum('v'), [1, '2.5', null, undefined, ''], 3.5],
    ['sum of nothing is 0', sum('v'), [null], 0],
    [
      'sum of large and small keeps the small',
      sum('v'),
      ['9007199254740991', '0.1', '-9007199254740991'],
      0.1,
    ],
    ['mean leaves out what is empty', mean('v'), ['1', null, '2'], 1.5],
    ['mean of nothing is null', mean('v'), [null], null],
    ['min', min('v'), ['10', '9', null], 9],
    ['max compares numbers, not strings', max('v'), ['10', '9', null], 10],
    ['max of nothing is null', max('v'), [], null],
    ['distinct leaves out null', distinct('v'), ['a', 'b', 'a', null], 2],
    ['a percentile is one of the values', percentile('v', 50), ['4', '1', '3', '2'], 2],
    ['percentile 100 is the largest', percentile('v', 100), ['4', '1', '3', '2'], 4],
    ['percentile 0 is the smallest', percentile('v', 0), ['4', '1', '3', '2'], 1],
    ['a percentile of nothing is null', percentile('v', 50), [], null],
    ['a reading may be a function', sum(({ v }) => Number(v) * 2), [1, 2], 6],
  ];
  it.each(cases)('%s', (_, measure, values, expected) => {
    expect(measured(measure, values)).toEqual(expected);
  });

  it.each(['abc', '1e3', '0x10', ' 1', true, {}, Number.NaN])(
    'refuse %j as a number without repeating it',
    (value) => {
      const accumulator = sum<Row>('v')();
      expect(() => accumulator.add({ sid: 'S1', v: value })).toThrow(
        /^v in call S1 is (a|an|not a) .*; expected a number or a decimal string/,
      );
    },
  );

  it('add up tenths exactly in any order', () => {
    const tenths = fc.array(fc.integer({ min: -100_000, max: 100_000 }), { maxLength: 200 });
    fc.assert(
      fc.property(tenths, (numbers) => {
        const texts = numbers.map((n) => (n / 10).toFixed(1));
        expect(measured(sum('v'), texts)).toBe(numbers.reduce((a, b) => a + b, 0) / 10);
      }),
      runs,
    );
  });

  it('refuse a percentile outside 0 to 100', () => {
    expect(() => percentile('v' as never, 101)).toThrow(/percentile 101; expected 0 to 100/);
  });
});
