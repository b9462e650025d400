import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { type Key, keyOf, nameOf, numberOf, type Reading, reader } from './fields.ts';

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

/** How values are counted, shared by all groups. What is kept of each of them is `S`. */
interface Counting<S, V, R> {
  readonly name: string;
  begin(): S;
  /** Counts a value in, which `raw` is as it was sent. */
  add(kept: S, value: V, raw: unknown): S;
  result(kept: S): R;
  /** As plain JSON. */
  save(kept: S): unknown;
  /** Takes in what another group has saved. */
  merge(kept: S, saved: never): S;
}

class Counter<S, V, R, T> implements Accumulator<R, T> {
  readonly #counting: Counting<S, V, R>;
  readonly #convert: (item: T, raw: unknown) => V;
  readonly #read: (item: T) => unknown;
  #kept: S;

  constructor(
    counting: Counting<S, V, R>,
    read: (item: T) => unknown,
    convert: (item: T, raw: unknown) => V,
  ) {
    this.#counting = counting;
    this.#convert = convert;
    this.#read = read;
    this.#kept = counting.begin();
  }

  add(item: T): void {
    const raw = this.#read(item);
    if (raw === null || raw === undefined || raw === '') return;
    this.#kept = this.#counting.add(this.#kept, this.#convert(item, raw), raw);
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
  of: Reading<T>,
  check: (raw: unknown, field: string, item: unknown) => V,
  counting: Counting<S, V, R>,
): Measure<R, T> {
  const read = reader(of);
  const field = nameOf(of);
  const shown = field ?? 'the value';
  const convert = (item: T, raw: unknown): V => check(raw, shown, item);
  return Object.assign(() => new Counter(counting, read, convert), {
    of: `${counting.name} of ${shown}`,
    field,
  });
}

/** The number of items. */
export function count<T = Call>(): Measure<number, T> {
  const counting: Counting<number, unknown, number> = {
    name: 'count',
    begin: () => 0,
    add: (kept) => kept + 1,
    result: (kept) => kept,
    save: (kept) => kept,
    merge: (kept, saved) => kept + saved,
  };
  const one = (): number => 1;
  return Object.assign(() => new Counter<number, unknown, number, T>(counting, one, one), { of: 'count' });
}

/** An exact sum. */
interface Total {
  count: number;
  /** Numbers of growing size that do not overlap, whose exact sum is the sum (Shewchuk's expansion): no digit is lost. */
  parts: number[];
  /** The most digits after the point of a value; -1 when they are not known. */
  digits: number;
}

const totals = {
  begin: (): Total => ({ count: 0, parts: [], digits: 0 }),
  add(total: Total, value: number, raw: unknown): Total {
    total.count += 1;
    addTo(total.parts, value);
    if (total.digits < 0) return total;
    if (typeof raw === 'string') {
      // Most values have as many digits as those before.
      if (raw.charCodeAt(raw.length - total.digits - 1) === 0x2e) return total;
      const point = raw.indexOf('.');
      if (point >= 0) total.digits = Math.max(total.digits, raw.length - point - 1);
    } else if (!Number.isInteger(value)) total.digits = -1;
    return total;
  },
  save: ({ count, parts, digits }: Total): Total => ({ count, parts: [...parts], digits }),
  merge(total: Total, { count, parts, digits }: Total): Total {
    total.count += count;
    for (const part of parts) addTo(total.parts, part);
    total.digits = total.digits < 0 || digits < 0 ? -1 : Math.max(total.digits, digits);
    return total;
  },
};

function addTo(parts: number[], value: number): void {
  let high = value;
  let kept = 0;
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? 0;
    const next = high + part;
    const back = next - high;
    const low = high - (next - back) + (part - back);
    high = next;
    if (low !== 0 && Number.isFinite(low)) parts[kept++] = low;
  }
  if (high !== 0) parts[kept++] = high;
  if (parts.length > kept) parts.length = kept;
}

/** The sum, rounded once: the double nearest to it, or the decimal with as many digits as the values have. */
function sumOf({ parts, digits }: Total): number {
  let at = parts.length - 1;
  let high = parts[at] ?? 0;
  let low = 0;
  while (at > 0 && low === 0) {
    at -= 1;
    const part = parts[at] ?? 0;
    const next = high + part;
    low = part - (next - high);
    high = next;
  }
  // Half way between two doubles the next smaller part decides.
  const below = parts[at - 1] ?? 0;
  const twice = low * 2;
  if (at > 0 && low !== 0 && low > 0 === below > 0 && twice === high + twice - high) high += twice;
  return digits < 0 || digits > 15 ? high : Number(high.toFixed(digits));
}

/** The sum of a numeric field. Empty values are left out. Decimals add up as on paper: 0.1 + 0.2 is 0.3. */
export function sum<T = Call>(of: Reading<T>): Measure<number, T> {
  return measure(of, numberOf, { name: 'sum', ...totals, result: sumOf });
}

/** The mean of the values that are not empty. Null when there are none. */
export function mean<T = Call>(of: Reading<T>): Measure<number | null, T> {
  const result = (total: Total): number | null => (total.count === 0 ? null : sumOf(total) / total.count);
  return measure(of, numberOf, { name: 'mean', ...totals, result });
}

/** The smallest value. Null when there is none. */
export function min<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return measure(of, numberOf, best('min', Math.min));
}

/** The largest value. Null when there is none. */
export function max<T = Call>(of: Reading<T>): Measure<number | null, T> {
  return measure(of, numberOf, best('max', Math.max));
}

function best(
  name: string,
  better: (a: number, b: number) => number,
): Counting<number | null, number, number | null> {
  const add = (kept: number | null, value: number): number => (kept === null ? value : better(kept, value));
  return {
    name,
    add,
    begin: () => null,
    result: (kept) => kept,
    save: (kept) => kept,
    merge: (kept, saved: number | null) => (saved === null ? kept : add(kept, saved)),
  };
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
  // How often each value occurs.
  type Times = Map<number, number>;
  const add = (times: Times, value: number, more: number): Times =>
    times.set(value, (times.get(value) ?? 0) + more);
  return measure<Times, number, number | null, T>(of, numberOf, {
    name: `percentile ${p}`,
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

/** The exact number of different values; empty values are left out. Memory grows with the result. */
export function distinct<T = Call>(of: Reading<T>): Measure<number, T> {
  return measure<Set<Key>, Key, number, T>(of, keyOf, {
    name: 'distinct',
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
