import { CallsError } from '@call-attribution/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Accumulator,
  Distinct,
  Largest,
  MemoryLimit,
  Percentiles,
  Smallest,
  Sum,
} from '../src/accumulators/index.ts';

const runs = { numRuns: Number(process.env.CALLS_RUNS ?? 100) };

/** Counts parts apart, saves each as JSON, and merges them in another order. */
function inParts<V, R, S>(make: () => Accumulator<V, R, S>, parts: readonly (readonly V[])[]): R {
  const whole = make();
  for (const part of [...parts].reverse()) {
    const own = make();
    for (const value of part) own.add(value);
    whole.merge(JSON.parse(JSON.stringify(own.save())));
  }
  return whole.result();
}

function atOnce<V, R, S>(make: () => Accumulator<V, R, S>, parts: readonly (readonly V[])[]): R {
  const whole = make();
  for (const value of parts.flat()) whole.add(value);
  return whole.result();
}

const number = fc
  .oneof(
    fc.integer({ min: -50, max: 50 }),
    fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
    fc.constantFrom(0.1, 1e16, -1e16, 1e-9),
  )
  .map((value) => value + 0);
const lists = <T>(value: fc.Arbitrary<T>) => fc.array(fc.array(value, { maxLength: 30 }), { maxLength: 4 });

describe('an accumulator that is saved and merged gives the result of the whole', () => {
  const numeric: [string, () => Accumulator<number, unknown, never>][] = [
    ['Sum', () => new Sum() as never],
    ['Smallest', () => new Smallest() as never],
    ['Largest', () => new Largest() as never],
    ['Percentiles', () => new Percentiles() as never],
    ['Distinct', () => new Distinct() as never],
  ];
  it.each(numeric)('%s', (_, make) => {
    fc.assert(
      fc.property(lists(number), (parts) => {
        expect(inParts(make, parts)).toEqual(atOnce(make, parts));
      }),
      runs,
    );
  });
});

describe('exactness', () => {
  it('sums lose no digit, in any order', () => {
    const sum = new Sum();
    for (const value of [1e16, 1, 0.5, -1e16]) sum.add(value);
    expect(sum.result()).toBe(1.5);
    const decimals = new Sum();
    for (const text of ['0.1', '0.2', '-0.3', '0.7']) decimals.add(Number(text), text);
    expect([decimals.result(), decimals.count, decimals.mean()]).toEqual([0.7, 4, 0.175]);
    expect([new Sum().result(), new Sum().mean()]).toEqual([0, null]);
  });

  it('a sum is the double nearest to the true one', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -(2 ** 53), max: 2 ** 53 }), { maxLength: 50 }), (values) => {
        const sum = new Sum();
        for (const value of values) sum.add(value);
        const truth = values.reduce((total, value) => total + BigInt(value), 0n);
        expect(sum.result()).toBe(Number(truth));
      }),
      runs,
    );
  });

  it('percentiles are values at their rank', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1 }), (values) => {
        const ranks = new Percentiles();
        for (const value of values) ranks.add(value);
        const sorted = [...values].sort((a, b) => a - b);
        expect(ranks.result()).toBe(sorted[Math.ceil(values.length / 2) - 1]);
        expect(ranks.at(9, 10)).toBe(sorted[Math.ceil((9 * values.length) / 10) - 1]);
        expect([ranks.at(0), ranks.at(1), ranks.count]).toEqual([sorted[0], sorted.at(-1), values.length]);
      }),
      runs,
    );
  });

  it('different values are told apart by kind, with how often each occurs', () => {
    const values = new Distinct();
    for (const value of ['1', 1, true, 'true', 1]) values.add(value);
    expect([values.result(), values.atLeast(2), [...values.entries()]]).toEqual([
      4,
      1,
      [
        ['1', 1],
        [1, 2],
        [true, 1],
        ['true', 1],
      ],
    ]);
  });
});

it('refuses to go on past the memory that accumulators share', () => {
  const memory = new MemoryLimit(1000);
  const [one, other] = [new Distinct(memory), new Percentiles(memory)];
  expect(() => {
    for (let i = 0; i < 1000; i += 1) {
      one.add(`key ${i}`);
      other.add(i);
    }
  }).toThrow('the exact result needs more than 0 MB');
  expect(memory.taken).toBeLessThan(1200);
});

it.each<[string, () => void]>([
  ['a sum', () => new Sum().merge({ count: 1, parts: [Number.NaN], digits: 0 })],
  ['a smallest value', () => new Smallest().merge(JSON.parse('"x"'))],
  ['a largest value', () => new Largest().merge(JSON.parse('[]'))],
  ['different values', () => new Distinct().merge(JSON.parse('[[{}, 1]]'))],
  ['percentiles', () => new Percentiles().merge(JSON.parse('[["1", 1]]'))],
])('refuses a saved state that is not that of %s', (_, merge) => {
  expect(merge).toThrow(CallsError);
});
