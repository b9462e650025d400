import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  count,
  distinct,
  type Measure,
  max,
  mean,
  min,
  percentile,
  sum,
} from '../src/operators/index.ts';

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
    [
      'sum takes numbers and leaves out what is empty',
      sum('v'),
      [1, '2.5', null, undefined, ''],
      3.5,
    ],
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
    ['an exact percentile is one of the values', percentile('v', 50), ['4', '1', '3', '2'], 2],
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

  const number = fc.oneof(
    fc.integer({ min: -50, max: 50 }).map((value) => value + 0),
    fc.double({ noNaN: true, min: -1e15, max: 1e15 }).map((value) => value + 0),
    fc.constantFrom(0.1, 1e16, -1e16, 1e-9, '0.5', '-12.25'),
  );
  it.each<[string, Measure<unknown, Row>]>([
    ['count', count()],
    ['sum', sum('v')],
    ['mean', mean('v')],
    ['min', min('v')],
    ['max', max('v')],
    ['percentile', percentile('v', 90)],
    ['distinct', distinct('v')],
  ])('%s of parts that were saved and merged is that of the whole', (_, measure) => {
    fc.assert(
      fc.property(fc.array(fc.array(number, { maxLength: 30 }), { maxLength: 4 }), (parts) => {
        const whole = measure();
        for (const part of [...parts].reverse()) {
          const own = measure();
          for (const v of part) own.add({ v });
          whole.merge?.(JSON.parse(JSON.stringify(own.save?.())));
        }

        expect(whole.result()).toEqual(measured(measure, parts.flat()));
      }),
      runs,
    );
  });

  it('a sum is the double nearest to the true one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -(2 ** 53), max: 2 ** 53 }), { maxLength: 50 }),
        (values) => {
          const truth = values.reduce((total, value) => total + BigInt(value), 0n);
          expect(measured(sum('v'), values)).toBe(Number(truth));
        },
      ),
      runs,
    );
  });

  it('percentiles are the values at their rank', () => {
    const values = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 100 }), (values, p) => {
        const sorted = [...values].sort((a, b) => a - b);
        expect(measured(percentile('v', p), values)).toBe(
          sorted[Math.ceil((p * values.length) / 100) - 1],
        );
      }),
      runs,
    );
  });

  it('different values are told apart by their type', () => {
    expect(measured(distinct('v'), ['1', 1, true, 'true', 1])).toBe(4);
  });

  it('refuse a percentile outside 0 to 100', () => {
    expect(() => percentile('v' as never, 101)).toThrow(/percentile 101; expected 0 to 100/);
  });
});
