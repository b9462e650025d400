import type { Call } from '@call-attribution/core';
import { DecimalSum, numberOf } from './decimal.ts';
import { QuantileSketch } from './quantile-sketch.ts';

/** What is measured of an item: a field by name, or a function. */
export type Reading<T = Call> = (keyof T & string) | ((item: T) => unknown);

/** The running state of one measure over one group. */
export interface Accumulator<R, T = Call> {
  add(item: T): void;
  result(): R;
}

/** A measure makes one accumulator per group; write your own for anything that is not here. */
export type Measure<R, T = Call> = () => Accumulator<R, T>;

/** Number of items. */
export function count<T = Call>(): Measure<number, T> {
  return () => {
    let items = 0;
    return {
      add: () => {
        items += 1;
      },
      result: () => items,
    };
  };
}

/** Sum of a number field or decimal text; empty values are left out. Decimals add up as on paper: 0.1 + 0.2 is 0.3. */
export function sum<T = Call>(of: Reading<T>): Measure<number, T> {
  return numeric(of, () => {
    const total = new DecimalSum();
    return { add: (value, raw) => total.add(value, raw), result: () => total.value };
  });
}

/** Mean of the values that are not empty; null when there is none. */
export function mean<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return numeric(of, () => {
    const total = new DecimalSum();
    return {
      add: (value, raw) => total.add(value, raw),
      result: () => (total.count === 0 ? null : total.value / total.count),
    };
  });
}

/** Smallest value; null when there is none. */
export function min<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return extreme(of, (value, best) => value < best);
}

/** Largest value; null when there is none. */
export function max<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return extreme(of, (value, best) => value > best);
}

/** Options of `percentile`. */
export interface PercentileOptions {
  /** Keep every value (8 bytes each) and answer exactly. Default false: a sketch of a few kilobytes. */
  exact?: boolean;
  /** Relative error of the sketch. Default 0.01. */
  error?: number;
}

/**
 * The value at rank `ceil(p / 100 * n)`; null when there is none. `p` is 0 to 100. The sketch answers within 1 % of the
 * true value unless told otherwise.
 */
export function percentile<T = Call>(
  of: Reading<T>,
  p: number,
  options: PercentileOptions = {},
): Measure<number | null, T> {
  if (!(p >= 0 && p <= 100)) throw new RangeError(`percentile ${p}; expected 0 to 100`);
  const error = options.error ?? 0.01;
  if (!options.exact) {
    return numeric(of, () => {
      const sketch = new QuantileSketch({ error });
      return { add: (value) => sketch.add(value), result: () => sketch.quantile(p / 100) };
    });
  }
  return numeric(of, () => {
    const values: number[] = [];
    return {
      add: (value) => values.push(value),
      result: () => {
        const sorted = Float64Array.from(values).sort();
        return sorted[Math.max(1, Math.ceil((p / 100) * sorted.length)) - 1] ?? null;
      },
    };
  });
}

/** Number of different values, exactly; empty values are left out. Memory grows with the answer. */
export function distinct<T = Call>(of: Reading<T>): Measure<number, T> {
  const read = reader(of);
  return () => {
    const values = new Set<unknown>();
    return {
      add(item) {
        const value = read(item);
        if (value !== null && value !== undefined) values.add(value);
      },
      result: () => values.size,
    };
  };
}

/** The items themselves, for what needs them all; memory grows with the group. */
export function collect<T = Call>(): Measure<T[], T> {
  return () => {
    const items: T[] = [];
    return {
      add: (item) => {
        items.push(item);
      },
      result: () => items,
    };
  };
}

/** A function that reads a field by name or with the function given. */
export function reader<T>(of: Reading<T>): (item: T) => unknown {
  return typeof of === 'function' ? of : (item) => item[of];
}

interface NumberAccumulator<R> {
  add(value: number, raw: unknown): void;
  result(): R;
}

function numeric<R, T>(of: Reading<T>, make: () => NumberAccumulator<R>): Measure<R, T> {
  const read = reader(of);
  const name = typeof of === 'string' ? of : 'the value';
  return () => {
    const inner = make();
    return {
      add(item) {
        const raw = read(item);
        if (raw !== null && raw !== undefined && raw !== '') inner.add(numberOf(raw, name, item), raw);
      },
      result: () => inner.result(),
    };
  };
}

function extreme<T>(
  of: Reading<T>,
  better: (value: number, best: number) => boolean,
): Measure<number | null, T> {
  return numeric(of, () => {
    let best: number | null = null;
    return {
      add: (value) => {
        if (best === null || better(value, best)) best = value;
      },
      result: () => best,
    };
  });
}
