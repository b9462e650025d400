import {
  covers,
  dated,
  everything,
  hull,
  intersect,
  isIn,
  merge,
  type Period,
  padded,
  periodOf,
  shift,
  subtract,
  undated,
} from '@call-attribution/core/time';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

// Few moments, so that edges meet often.
const edges = fc.option(fc.integer({ min: 0, max: 8 }), { freq: 4 });
const periods: fc.Arbitrary<Period> = fc.record({
  from: edges,
  to: edges,
  undated: fc.constantFrom('with' as const, 'without' as const, 'only' as const),
});
const lists = fc.array(periods, { maxLength: 5 });

/** Every moment that can lie differently, and a call without a time. */
const moments = [null, ...Array.from({ length: 12 }, (_, i) => i - 2)];
const isInOne = (all: readonly Period[], time: number | null): boolean =>
  all.some((each) => isIn(each, time));

describe('periods', () => {
  test('everything, what has a time, what has none', () => {
    expect(moments.filter((time) => !isIn(everything, time))).toEqual([]);
    expect(moments.filter((time) => !isIn(dated, time))).toEqual([null]);
    expect(moments.filter((time) => isIn(undated, time))).toEqual([null]);
    expect(moments.filter((time) => isIn(periodOf(1, 3), time))).toEqual([1, 2]);
  });

  test('law: what is in both is in their intersection, and nothing else', () => {
    fc.assert(
      fc.property(periods, periods, (one, other) => {
        const both = intersect(one, other);
        for (const time of moments)
          expect(both !== null && isIn(both, time)).toBe(isIn(one, time) && isIn(other, time));
      }),
    );
  });

  test('law: a moment of a period is in exactly one of: the part taken away, what is left', () => {
    fc.assert(
      fc.property(periods, periods, (whole, part) => {
        const both = intersect(whole, part);
        const parts = [...subtract(whole, part), ...(both === null ? [] : [both])];
        for (const time of moments)
          expect(parts.filter((each) => isIn(each, time)).length).toBe(Number(isIn(whole, time)));
      }),
    );
  });

  test('law: merged periods hold the same moments, each in one, and none could be fewer', () => {
    fc.assert(
      fc.property(lists, (all) => {
        const merged = merge(all);
        for (const time of moments)
          expect(merged.filter((each) => isIn(each, time)).length).toBe(Number(isInOne(all, time)));
        expect(merge(merged)).toEqual(merged);
        for (const [i, { from }] of merged.slice(1).entries()) {
          const { to } = merged[i] as Period;
          expect(to !== null && from !== null && to < from).toBe(true);
        }
      }),
    );
  });

  test('law: a period is covered when each of its moments is in one of the others', () => {
    fc.assert(
      fc.property(lists, periods, (all, period) => {
        const isCovered = moments.every((time) => !isIn(period, time) || isInOne(all, time));
        expect(covers(all, period)).toBe(isCovered);
      }),
    );
  });

  test('law: a moment is in a period as that moment later is in the period so much later', () => {
    fc.assert(
      fc.property(periods, fc.integer({ min: -9, max: 9 }), (period, by) => {
        const later = shift(period, by);
        for (const time of moments)
          expect(isIn(later, time === null ? null : time + by)).toBe(isIn(period, time));
      }),
    );
  });

  test('the hull of periods is without gaps, whatever belongs to them without a time', () => {
    expect(hull([periodOf(3, 5), undated, periodOf(8, 9)])).toEqual(periodOf(3, 9));
    expect(hull([periodOf(3, 5), periodOf(null, 1)])).toEqual(periodOf(null, 5));
    expect(hull([everything, periodOf(1, 2)])).toEqual(dated);
  });

  test('a padded period has room for the clock of every other zone', () => {
    expect(padded(periodOf(0, 10))).toEqual(periodOf(-97_200_000, 97_200_010));
    expect(padded(everything)).toEqual(everything);
  });
});
