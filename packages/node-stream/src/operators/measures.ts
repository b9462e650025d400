import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { checkSaved } from '../accumulators/accumulator.ts';
import { numberOf } from '../accumulators/decimal.ts';
import {
  Distinct,
  Largest,
  Percentiles,
  Smallest,
  Sum,
  type Accumulator as ValueAccumulator,
} from '../accumulators/index.ts';
import { keyOf } from './keys.ts';

/** What is read from an item: a field by name, or a function. */
export type Reading<T = Call> = (keyof T & string) | ((item: T) => unknown);

/** The running state of one measure over one group. */
export interface Accumulator<R, T = Call> {
  /** Counts an item in. */
  add(item: T): void;
  /** The measure of all items so far. */
  result(): R;
  /** What it keeps, as plain JSON. Without it, a read with this measure cannot be resumed. */
  save?(): unknown;
  /** Takes in what an accumulator of the same kind has saved. */
  merge?(saved: unknown): void;
}

/** Makes one accumulator per group. Write your own for what the measures here do not cover. */
export interface Measure<R, T = Call> {
  /** Makes an accumulator, for a new group. */
  (): Accumulator<R, T>;
  /** What it measures: a saved state is not resumed with another measure. */
  readonly of?: string;
}

/** A measure that says what it is. */
function measure<R, T>(of: string, make: () => Accumulator<R, T>): Measure<R, T> {
  return Object.assign(make, { of });
}

/** The number of items. */
export function count<T = Call>(): Measure<number, T> {
  return measure('count', () => {
    let counted = 0;
    return {
      add() {
        counted += 1;
      },
      result: () => counted,
      save: () => counted,
      merge(saved) {
        checkSaved(Number.isSafeInteger(saved) && (saved as number) >= 0, 'a count');
        counted += saved as number;
      },
    };
  });
}

/** The sum of a numeric field. Empty values are left out. Decimals add up as on paper: 0.1 + 0.2 is 0.3. */
export function sum<T = Call>(of: Reading<T>): Measure<number, T> {
  return numeric(
    'sum',
    of,
    () => new Sum(),
    (total) => total.result(),
  );
}

/** The mean of the values that are not empty. Null when there are none. */
export function mean<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return numeric(
    'mean',
    of,
    () => new Sum(),
    (total) => total.mean(),
  );
}

/** The smallest value. Null when there is none. */
export function min<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return numeric(
    'min',
    of,
    () => new Smallest(),
    (best) => best.result(),
  );
}

/** The largest value. Null when there is none. */
export function max<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return numeric(
    'max',
    of,
    () => new Largest(),
    (best) => best.result(),
  );
}

/**
 * The value at rank `ceil(p / 100 * n)`, with `p` from 0 to 100. Null when there are no values. Memory grows with the number of
 * different values.
 *
 * @example
 * percentile('talk_minutes', 95);
 */
export function percentile<T = Call>(of: Reading<T>, p: number): Measure<number | null, T> {
  if (!(p >= 0 && p <= 100))
    throw new ConfigurationError('invalid_option', `percentile ${p}; expected 0 to 100`);
  return numeric(
    `percentile ${p}`,
    of,
    () => new Percentiles(),
    (values) => values.at(p, 100),
  );
}

/** The exact number of different values; empty values are left out. Memory grows with the result. */
export function distinct<T = Call>(of: Reading<T>): Measure<number, T> {
  const read = reader(of);
  return measure(`distinct ${nameOf(of)}`, () => {
    const values = new Distinct();
    return {
      add(item) {
        const value = keyOf(read(item), nameOf(of), item);
        if (value !== null) values.add(value);
      },
      result: () => values.result(),
      save: () => values.save(),
      merge: (saved) => values.merge(saved as ReturnType<Distinct['save']>),
    };
  });
}

/** A function that reads a field by its name, or the function given. */
export function reader<T>(of: Reading<T>): (item: T) => unknown {
  return typeof of === 'function' ? of : (item) => item[of];
}

const nameOf = (of: unknown): string => (typeof of === 'string' ? of : 'the value');

function numeric<A extends ValueAccumulator<number, unknown, S>, S, R, T>(
  name: string,
  of: Reading<T>,
  make: () => A & { add(value: number, raw?: unknown): void },
  resultOf: (inner: A) => R,
): Measure<R, T> {
  const read = reader(of);
  const field = nameOf(of);
  return measure(`${name} of ${field}`, () => {
    const inner = make();
    return {
      add(item) {
        const raw = read(item);
        if (raw !== null && raw !== undefined && raw !== '') inner.add(numberOf(raw, field, item), raw);
      },
      result: () => resultOf(inner),
      save: () => inner.save(),
      merge: (saved) => inner.merge(saved as S),
    };
  });
}
