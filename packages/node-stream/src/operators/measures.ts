import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { numberOf } from '../accumulators/decimal.ts';
import { Percentiles, QuantileSketch, relativeError, Sum } from '../accumulators/index.ts';

/** What is read from an item: a field by name, or a function. */
export type Reading<T = Call> = (keyof T & string) | ((item: T) => unknown);

/** The running state of one measure over one group. */
export interface Accumulator<R, T = Call> {
  /** Counts an item in. */
  add(item: T): void;
  /** The measure of all items so far. */
  result(): R;
}

/** Makes one accumulator per group. Write your own for what the measures here do not cover. */
export type Measure<R, T = Call> = () => Accumulator<R, T>;

/** The number of items. */
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

/** The sum of a numeric field. Empty values are left out. Decimals add up as on paper: 0.1 + 0.2 is 0.3. */
export function sum<T = Call>(of: Reading<T>): Measure<number, T> {
  return numeric(of, () => {
    const total = new Sum();
    return { add: (value, raw) => total.add(value, raw), result: () => total.result() };
  });
}

/** The mean of the values that are not empty. Null when there are none. */
export function mean<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return numeric(of, () => {
    const total = new Sum();
    return {
      add: (value, raw) => total.add(value, raw),
      result: () => total.mean(),
    };
  });
}

/** The smallest value. Null when there is none. */
export function min<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return extreme(of, (value, best) => value < best);
}

/** The largest value. Null when there is none. */
export function max<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return extreme(of, (value, best) => value > best);
}

const percentileOptions = defineOptions({
  /** Keep every different value for an exact result. Default false: a sketch of a few kilobytes. */
  exact: option.flag().default(false),
  /** Relative error of the sketch. Default 0.01. */
  error: relativeError().default(0.01),
});

/** Settings of `percentile`. */
export interface PercentileOptions extends OptionsOf<typeof percentileOptions> {}

/**
 * The value at rank `ceil(p / 100 * n)`, with `p` from 0 to 100. Null when there are no values. By default it is an
 * estimate within 1 % of the true value.
 *
 * @example
 * percentile('talk_minutes', 95);
 */
export function percentile<T = Call>(
  of: Reading<T>,
  p: number,
  options: PercentileOptions = {},
): Measure<number | null, T> {
  const { exact, error } = percentileOptions.read(options);
  if (!(p >= 0 && p <= 100))
    throw new ConfigurationError('invalid_option', `percentile ${p}; expected 0 to 100`);
  if (!exact) {
    return numeric(of, () => {
      const sketch = new QuantileSketch({ error });
      return { add: (value) => sketch.add(value), result: () => sketch.quantile(p / 100) };
    });
  }
  return numeric(of, () => {
    const values = new Percentiles();
    return { add: (value) => values.add(value), result: () => values.at(p, 100) };
  });
}

/** The exact number of different values; empty values are left out. Memory grows with the result. */
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

/** The items themselves. Memory grows with the group. */
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

/** A function that reads a field by its name, or the function given. */
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
