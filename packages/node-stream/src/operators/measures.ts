import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { type Key, keyOf, nameOf, numberOf, type Reading, reader } from './fields.ts';

/** The running state of one measure over one group. */
export interface Accumulator<R, T = Call> {
  /** Counts an item in. */
  add(item: T): void;
  /** The measure of all items so far. */
  result(): R;
  /** What it keeps, as plain JSON. */
  save(): unknown;
  /** Takes in what an accumulator of the same kind has saved. */
  merge(saved: unknown): void;
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

/** How values are counted, shared by all groups. What is kept of each of them is `S`. */
interface Counting<S, V, R, T> {
  read(item: T): V | undefined;
  begin(): S;
  add(kept: S, value: V): S;
  result(kept: S): R;
  save(kept: S): unknown;
  merge(kept: S, saved: never): S;
}

class Counter<S, V, R, T> implements Accumulator<R, T> {
  readonly #counting: Counting<S, V, R, T>;
  #kept: S;

  constructor(counting: Counting<S, V, R, T>) {
    this.#counting = counting;
    this.#kept = counting.begin();
  }

  add(item: T): void {
    const value = this.#counting.read(item);
    if (value !== undefined) this.#kept = this.#counting.add(this.#kept, value);
  }

  result(): R {
    return this.#counting.result(this.#kept);
  }

  save(): unknown {
    return this.#counting.save(this.#kept);
  }

  merge(saved: unknown): void {
    this.#kept = this.#counting.merge(this.#kept, saved as never);
  }
}

/** A measure of the values of a field. Empty ones are left out. */
function measure<S, V, R, T>(
  name: string,
  of: Reading<T>,
  check: (raw: unknown, field: string, item: unknown) => V,
  counting: Omit<Counting<S, V, R, T>, 'read'>,
): Measure<R, T> {
  const value = reader(of);
  const field = nameOf(of);
  const shown = field ?? 'the value';
  const ofItems: Counting<S, V, R, T> = {
    ...counting,
    read(item) {
      const raw = value(item);
      return raw === null || raw === undefined || raw === '' ? undefined : check(raw, shown, item);
    },
  };
  return Object.assign(() => new Counter(ofItems), { of: `${name} of ${shown}`, field });
}

/** The number of items. */
export function count<T = Call>(): Measure<number, T> {
  const counting: Counting<number, number, number, T> = {
    begin: () => 0,
    read: () => 1,
    add: (kept, one) => kept + one,
    result: (kept) => kept,
    save: (kept) => kept,
    merge: (kept, saved) => kept + saved,
  };
  return Object.assign(() => new Counter(counting), { of: 'count' });
}
/**
 * An exact sum, in units of its last decimal place. `recent`: a part of it that a double holds,
 * since that is added up faster.
 */
interface Total {
  count: number;
  units: bigint;
  recent: number;
  places: number;
}

const totals = {
  begin: (): Total => ({ count: 0, units: 0n, recent: 0, places: 0 }),
  add(total: Total, value: number): Total {
    const scale = 10 ** total.places;
    const units = Math.round(value * scale);

    // Of up to 15 digits there is one decimal for a double.
    if (total.places > 15 || Math.abs(units) >= 1e15 || units / scale !== value) {
      // As on paper: the shortest decimal that is this number, such as 0.1 or 1.5e-7.
      const [digits = '', exponent = '0'] = String(value).split('e');
      const [whole = '', fraction = ''] = digits.split('.');
      return addUnits(total, 1, BigInt(whole + fraction), fraction.length - Number(exponent));
    }

    total.count += 1;
    total.recent += units;
    return Math.abs(total.recent) < 8e15 ? total : addUnits(total, 0, 0n, 0);
  },
  save: ({ count, units, recent, places }: Total) => [
    count,
    String(units + BigInt(recent)),
    places,
  ],
  merge: (total: Total, [count, units, places]: [number, string, number]): Total =>
    addUnits(total, count, BigInt(units), places),
};

function addUnits(total: Total, count: number, units: bigint, places: number): Total {
  const all = Math.max(places, total.places);
  const shifted = (value: bigint, from: number): bigint => value * 10n ** BigInt(all - from);
  total.units = shifted(total.units + BigInt(total.recent), total.places) + shifted(units, places);
  total.count += count;
  total.recent = 0;
  total.places = all;
  return total;
}

/** Rounded once, to the nearest double. */
const sumOf = ({ units, recent, places }: Total): number =>
  Number(`${units + BigInt(recent)}e${-places}`);

/**
 * The sum of a numeric field. Empty values are left out. Decimals add up as on paper: 0.1 + 0.2 is
 * 0.3.
 */
export function sum<T = Call>(of: Reading<T>): Measure<number, T> {
  return measure('sum', of, numberOf, { ...totals, result: sumOf });
}

/** The mean of the values that are not empty. Null when there are none. */
export function mean<T = Call>(of: Reading<T>): Measure<number | null, T> {
  const result = (total: Total): number | null =>
    total.count === 0 ? null : sumOf(total) / total.count;
  return measure('mean', of, numberOf, { ...totals, result });
}

/** The smallest value. Null when there is none. */
export const min = <T = Call>(of: Reading<T>): Measure<number | null, T> =>
  best('min', of, Math.min);

/** The largest value. Null when there is none. */
export const max = <T = Call>(of: Reading<T>): Measure<number | null, T> =>
  best('max', of, Math.max);

function best<T>(
  name: string,
  of: Reading<T>,
  better: (a: number, b: number) => number,
): Measure<number | null, T> {
  const add = (kept: number | null, value: number): number =>
    kept === null ? value : better(kept, value);
  return measure<number | null, number, number | null, T>(name, of, numberOf, {
    add,
    begin: () => null,
    result: (kept) => kept,
    save: (kept) => kept,
    merge: (kept, saved: number | null) => (saved === null ? kept : add(kept, saved)),
  });
}

/**
 * The value at rank `ceil(p / 100 * n)`, with `p` from 0 to 100. Null when there are no values.
 * Exact: memory grows with the number of different values.
 *
 * @example
 * percentile('talk_minutes', 95);
 */
export function percentile<T = Call>(of: Reading<T>, p: number): Measure<number | null, T> {
  if (!(p >= 0 && p <= 100))
    throw new ConfigurationError('invalid_option', `percentile ${p}; expected 0 to 100`);

  // How often each value occurs.
  type Times = Map<number, number>;
  const add = (times: Times, value: number, more: number): Times =>
    times.set(value, (times.get(value) ?? 0) + more);
  return measure<Times, number, number | null, T>(`percentile ${p}`, of, numberOf, {
    begin: () => new Map(),
    add: (times, value) => add(times, value, 1),
    result(times) {
      let all = 0;
      for (const each of times.values()) all += each;
      const rank = Math.max(1, Math.ceil((p * all) / 100));
      let passed = 0;
      for (const [value, each] of [...times].sort(([a], [b]) => a - b)) {
        passed += each;
        if (passed >= rank) return value;
      }

      return null;
    },
    save: (times) => [...times],
    merge(times, saved: [number, number][]) {
      for (const [value, more] of saved) add(times, value, more);
      return times;
    },
  });
}

/**
 * The exact number of different values; empty values are left out. Memory grows with the result.
 */
export function distinct<T = Call>(of: Reading<T>): Measure<number, T> {
  return measure<Set<Key>, Key, number, T>('distinct', of, keyOf, {
    begin: () => new Set(),
    add: (values, value) => values.add(value),
    result: (values) => values.size,
    save: (values) => [...values],
    merge(values, saved: Key[]) {
      for (const value of saved) values.add(value);
      return values;
    },
  });
}
