import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { numberOf } from '../accumulators/decimal.ts';
import { Distinct, Largest, Percentiles, Smallest, Sum } from '../accumulators/index.ts';
import { keyOf, nameOf, type Reading, reader } from './fields.ts';

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
  /** The field that it reads, which is refused where items do not have it. */
  readonly field?: string | null;
}

/** What is counted with the values that are not empty. */
interface Values {
  add(value: never, raw: unknown): void;
  save(): unknown;
  merge(saved: never): void;
}

/** An accumulator of a field. There may be a million of them, so that they share what they do. */
class OfField<V extends Values, R, T> implements Accumulator<R, T> {
  readonly #take: (item: T, values: V) => void;
  readonly #resultOf: (values: V) => R;
  readonly #values: V;

  constructor(take: (item: T, values: V) => void, resultOf: (values: V) => R, values: V) {
    this.#take = take;
    this.#resultOf = resultOf;
    this.#values = values;
  }

  add(item: T): void {
    this.#take(item, this.#values);
  }

  result(): R {
    return this.#resultOf(this.#values);
  }

  save(): unknown {
    return this.#values.save();
  }

  merge(saved: unknown): void {
    this.#values.merge(saved as never);
  }
}

function measure<V extends Values, R, T>(
  name: string,
  of: Reading<T>,
  make: () => V,
  resultOf: (values: V) => R,
  check: (raw: unknown, field: string, item: unknown) => unknown = numberOf,
): Measure<R, T> {
  const read = reader(of);
  const field = nameOf(of);
  const shown = field ?? 'the value';
  const take = (item: T, values: V): void => {
    const raw = read(item);
    if (raw !== null && raw !== undefined && raw !== '') values.add(check(raw, shown, item) as never, raw);
  };
  return Object.assign(() => new OfField(take, resultOf, make()), { of: `${name} of ${shown}`, field });
}

/** The number of items. */
class Count implements Accumulator<number, unknown> {
  #count = 0;

  add(): void {
    this.#count += 1;
  }

  result(): number {
    return this.#count;
  }

  save(): number {
    return this.#count;
  }

  merge(saved: unknown): void {
    this.#count += Number(saved);
  }
}

/** The number of items. */
export function count<T = Call>(): Measure<number, T> {
  return Object.assign(() => new Count(), { of: 'count' });
}

/** The sum of a numeric field. Empty values are left out. Decimals add up as on paper: 0.1 + 0.2 is 0.3. */
export function sum<T = Call>(of: Reading<T>): Measure<number, T> {
  return measure(
    'sum',
    of,
    () => new Sum(),
    (total) => total.result(),
  );
}

/** The mean of the values that are not empty. Null when there are none. */
export function mean<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return measure(
    'mean',
    of,
    () => new Sum(),
    (total) => total.mean(),
  );
}

/** The smallest value. Null when there is none. */
export function min<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return measure(
    'min',
    of,
    () => new Smallest(),
    (best) => best.result(),
  );
}

/** The largest value. Null when there is none. */
export function max<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return measure(
    'max',
    of,
    () => new Largest(),
    (best) => best.result(),
  );
}

/**
 * The value at rank `ceil(p / 100 * n)`, with `p` from 0 to 100. Null when there are no values. Exact: memory grows with the number of
 * different values.
 *
 * @example
 * percentile('talk_minutes', 95);
 */
export function percentile<T = Call>(of: Reading<T>, p: number): Measure<number | null, T> {
  if (!(p >= 0 && p <= 100))
    throw new ConfigurationError('invalid_option', `percentile ${p}; expected 0 to 100`);
  return measure(
    `percentile ${p}`,
    of,
    () => new Percentiles(),
    (values) => values.at(p, 100),
  );
}

/** The exact number of different values; empty values are left out. Memory grows with the result. */
export function distinct<T = Call>(of: Reading<T>): Measure<number, T> {
  return measure(
    'distinct',
    of,
    () => new Distinct(),
    (values) => values.result(),
    keyOf,
  );
}
