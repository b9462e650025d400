import { type Clock, systemClock } from '../time/clock.ts';
import { type Duration, parseDuration } from '../time/duration.ts';
import { isObject } from './check.ts';
import type { Entry, Filled, InnerTable, Needed } from './entry.ts';

/** An option, which may be left out. `V` is what is given, and `R` what it is read as. */
export interface Option<V, R = V> extends Entry<V, R> {
  /** The same with a default. */
  default(value: V): Filled<V, R>;
  /** The same, and it must be given. */
  required(): Needed<V, R>;
  /** This kind of value or another one. */
  or<W, S>(other: Entry<W, S>): Option<V | W, R | S>;
  /** The same, with these words for what is expected. */
  expecting(words: string): Option<V, R>;
  /** The same, and this is checked too; `name` is what errors call the option. */
  checking(check: (value: V, name: string) => void): Option<V, R>;
  /** The same, read as what a function makes of it. What it returns should be accepted too, since options are passed on. */
  as<S>(convert: (value: R) => S): Option<V, S>;
}

const optionOf = <V, R>(entry: Entry<V, R>): Option<V, R> => ({
  ...entry,
  default: (initial) => ({ ...entry, initial }),
  required: () => ({ ...entry, isNeeded: true }),
  or: (other) => optionOf(either(entry, other)),
  expecting: (expected) => optionOf({ ...entry, expected }),
  checking: (check) =>
    optionOf({
      ...entry,
      check(value, name) {
        entry.check?.(value, name);
        check(value, name);
      },
    }),
  as: (convert) => optionOf({ ...entry, fill: (value) => convert(entry.fill(value)) }),
});

const either = <V, R, W, S>(a: Entry<V, R>, b: Entry<W, S>): Entry<V | W, R | S> => ({
  expected: `${a.expected}, or ${b.expected}`,
  isShown: a.isShown === true || b.isShown === true,
  accepts: (value): value is V | W => a.accepts(value) || b.accepts(value),
  check(value, name) {
    if (a.accepts(value)) a.check?.(value, name);
    else if (b.accepts(value)) b.check?.(value, name);
  },
  fill: (value) => (a.accepts(value) ? a.fill(value) : b.fill(value as W)),
});

const of = <V>(expected: string, accepts: (value: unknown) => boolean, isShown = false): Option<V> =>
  optionOf<V, V>({
    expected,
    isShown,
    accepts: (value): value is V => accepts(value),
    fill: (value) => value,
  });

const hasMethods = (value: unknown, names: readonly string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  names.every((name) => typeof Reflect.get(value, name) === 'function');

const millisOf = (value: unknown): number => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? parseDuration(value) : Number.NaN;
};

/** Kinds of options. What follows says more: `option.whole(1).default(250)`, `option.string().required()`. */
export const option = {
  /** What `accepts` says. Errors show a string only when `isShown` is set: it may be a key. */
  of: <V>(expected: string, accepts: (value: unknown) => boolean, isShown = false): Option<V> =>
    of(expected, accepts, isShown),
  /** True or false. */
  flag: (): Option<boolean> => of('true or false', (value) => typeof value === 'boolean'),
  /** A function. */
  callback: <F extends (...args: never[]) => unknown>(): Option<F> =>
    of('a function', (value) => typeof value === 'function'),
  /** Any string. */
  string: (): Option<string> => of('a string', (value) => typeof value === 'string'),
  /** One of these strings. */
  oneOf: <const V extends string>(...values: readonly V[]): Option<V> => {
    const quoted = values.map((value) => `'${value}'`).join(', ');
    return of(quoted.replace(/, ([^,]*)$/, ' or $1'), (value) => values.some((each) => each === value), true);
  },
  /** This one value, such as false or null. */
  only: <const V>(single: V): Option<V> => of(String(single), (value) => value === single),
  /** A whole number that is not too small. */
  whole: (least: number): Option<number> =>
    of(
      `a whole number of at least ${least}`,
      (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= least,
      true,
    ),
  /** A finite number that is not too small. */
  number: (least: number): Option<number> =>
    of(
      `a number of at least ${least}`,
      (value) => typeof value === 'number' && Number.isFinite(value) && value >= least,
      true,
    ),
  /** A length of time above 0 after which something ends, read as milliseconds. `Infinity`: it never does. */
  timeout: (): Option<Duration, number> =>
    of<Duration>(
      "milliseconds above 0, a string such as '30s', or Infinity",
      (value) => millisOf(value) > 0,
      true,
    ).as(millisOf),
  /** A length of time, read as milliseconds. */
  duration: (): Option<Duration, number> =>
    of<Duration>(
      "milliseconds or a string such as '30s', '15m', '1h' or '7d'",
      (value) => millisOf(value) >= 0 && Number.isFinite(millisOf(value)),
      true,
    ).as(millisOf),
  /** An array. */
  list: <V>(): Option<readonly V[]> => of('an array', Array.isArray),
  /** A plain object. */
  object: <V extends object>(): Option<V> => of('an object', isObject),
  /** An object with these methods. */
  methods: <V extends object>(expected: string, ...names: readonly (keyof V & string)[]): Option<V> =>
    of(expected, (value) => hasMethods(value, names)),
  /** Where the time is taken from. Default: the clock of the machine. */
  clock: (): Filled<Pick<Clock, 'now'>> =>
    optionOf(of<Pick<Clock, 'now'>>('a clock with now()', (value) => hasMethods(value, ['now']))).default(
      systemClock,
    ),
  /** An AbortSignal. */
  signal: (): Option<AbortSignal> =>
    of('an AbortSignal', (value) => hasMethods(value, ['addEventListener', 'throwIfAborted'])),
  /** The options of another table. */
  table: <V, R>({ entries, check, fill }: InnerTable<V, R>): Option<V, R> =>
    optionOf<V, R>({
      expected: `an object with ${Object.keys(entries).join(', ')}`,
      accepts: (value): value is V => isObject(value),
      check: (value, name) => check(value, `${name}.`),
      fill,
    }),
  /** Anything: it is checked elsewhere, with a better message. */
  anything: <V = unknown>(): Option<V> => of('a value', () => true),
} as const;
