import { CallsError } from '@call-attribution/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QuantileSketch } from '../src/accumulators/index.ts';
import { count, distinct, type Measure, max, mean, min, percentile, sum } from '../src/operators/index.ts';

type Row = { sid?: string; v?: unknown };

function measured<R>(measure: Measure<R, Row>, values: readonly unknown[]): R {
  const accumulator = measure();
  for (const v of values) accumulator.add({ v });
  return accumulator.result();
}

const runs = { numRuns: Number(process.env.CALLS_RUNS ?? 100) };
const rank = (sorted: readonly number[], p: number) =>
  sorted[Math.max(1, Math.ceil((p / 100) * sorted.length)) - 1];

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
    [
      'an exact percentile is one of the values',
      percentile('v', 50, { exact: true }),
      ['4', '1', '3', '2'],
      2,
    ],
    ['percentile 100 is the largest', percentile('v', 100), ['4', '1', '3', '2'], 4],
    ['percentile 0 is the smallest', percentile('v', 0), ['4', '1', '3', '2'], 1],
    ['a percentile of nothing is null', percentile('v', 50), [], null],
    ['an exact percentile of nothing is null', percentile('v', 50, { exact: true }), [], null],
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

describe('QuantileSketch', () => {
  const value = fc.oneof(
    fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
    fc.double({ min: -1e6, max: -1e-6, noNaN: true }),
    fc.constant(0),
    fc.integer({ min: 0, max: 50 }).map((n) => n / 10),
  );
  const values = fc.array(value, { minLength: 1, maxLength: 400 });
  const within = (found: number, truth: number, error: number) =>
    Math.abs(found - truth) <= error * Math.abs(truth) * (1 + 1e-9) + 1e-12;

  it('estimates every percentile within its relative error', () => {
    fc.assert(
      fc.property(
        values,
        fc.integer({ min: 0, max: 100 }),
        fc.constantFrom(0.001, 0.01, 0.05),
        (list, p, error) => {
          const sketch = new QuantileSketch({ error });
          for (const v of list) sketch.add(v);
          const truth = rank(
            [...list].sort((a, b) => a - b),
            p,
          ) as number;
          expect(within(sketch.quantile(p / 100) as number, truth, error)).toBe(true);
        },
      ),
      runs,
    );
  });

  it('equals the sketch of the whole when it is merged from parts', () => {
    fc.assert(
      fc.property(values, values, fc.double({ min: 0, max: 1, noNaN: true }), (left, right, q) => {
        const [a, b, whole] = [new QuantileSketch(), new QuantileSketch(), new QuantileSketch()];
        for (const v of left) a.add(v);
        for (const v of right) b.add(v);
        for (const v of [...left, ...right]) whole.add(v);
        a.merge(JSON.parse(JSON.stringify(b.save())));
        expect([a.count, a.quantile(q)]).toEqual([whole.count, whole.quantile(q)]);
      }),
      runs,
    );
  });

  it('keeps the error that was asked for, or refuses values that are spread too widely', () => {
    const fine = new QuantileSketch({ error: 0.001 });
    for (let i = 0; i < 5000; i += 1) fine.add(1.005 ** i);
    expect(within(fine.quantile(0.1) as number, 1.005 ** 499, 0.001)).toBe(true);
    const small = new QuantileSketch({ buckets: 64 });
    const fill = () => {
      for (let i = 0; i < 500; i += 1) small.add(1.05 ** i);
    };
    expect(fill).toThrow(
      /spread so widely that 64 buckets do not keep an error of 0.01; allow a larger error/,
    );
  });

  it.each([
    ['an error of 0', () => new QuantileSketch({ error: 0 })],
    ['a value that is no number', () => new QuantileSketch().add(Number.NaN)],
    ['a quantile over 1', () => new QuantileSketch().quantile(2)],
    [
      'a merge with another error',
      () => new QuantileSketch().merge(new QuantileSketch({ error: 0.1 }).save()),
    ],
  ])('refuses %s', (_, work) => {
    expect(work).toThrow(CallsError);
  });
});
