import { nearest } from '@call-attribution/query-dsl/nearest';
import { ConfigurationError } from './calls-error.ts';
import { setupMessages } from './setup-messages.ts';

/** What an option may be. */
export interface OptionKind {
  /** Ends the sentence "... must be ...". */
  readonly expected: string;
  /** Whether a value may be given. */
  accepts(value: unknown): boolean;
  /** Errors say only the type of a string, because it may be a key, unless this is set. */
  readonly isShown?: boolean;
  /** Options within this one. */
  readonly inner?: OptionShape;
}

/** The options that there are, by name. */
export type OptionShape = Readonly<Record<string, OptionKind>>;

const isObject = (value: unknown): value is object =>
  Object.prototype.toString.call(value) === '[object Object]';

/** Kinds of options. */
export const kinds = {
  flag: { expected: 'true or false', accepts: (value) => typeof value === 'boolean' },
  callback: { expected: 'a function', accepts: (value) => typeof value === 'function' },
  string: { expected: 'a string', accepts: (value) => typeof value === 'string' },
  object: { expected: 'an object', accepts: (value) => isObject(value) },
  milliseconds: {
    expected: 'milliseconds above 0, or Infinity',
    accepts: (value) => typeof value === 'number' && value > 0,
    isShown: true,
  },
  list: { expected: 'an array', accepts: (value) => Array.isArray(value) },
  signal: {
    expected: 'an AbortSignal',
    accepts: (value) => withMethods('', 'addEventListener', 'throwIfAborted').accepts(value),
  },
  /** Checked elsewhere, with a better message. */
  anything: { expected: 'a value', accepts: () => true },
} as const satisfies Readonly<Record<string, OptionKind>>;

/** A whole number that is not too small. */
export const whole = (least: number): OptionKind => ({
  expected: `a whole number of at least ${least}`,
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= least,
  isShown: true,
});

/** A finite number that is not too small. */
export const number = (least: number): OptionKind => ({
  expected: `a number of at least ${least}`,
  accepts: (value) => Number.isFinite(value) && (value as number) >= least,
  isShown: true,
});

/** A value of any of these kinds. */
export const either = (...some: readonly OptionKind[]): OptionKind => {
  const inner = some.find((kind) => kind.inner)?.inner;
  return {
    expected: some.map(({ expected }) => expected).join(', or '),
    accepts: (value) => some.some((kind) => kind.accepts(value)),
    isShown: some.some(({ isShown }) => isShown === true),
    ...(inner === undefined ? {} : { inner }),
  };
};

/** This one value, such as false or null. */
export const only = (single: unknown): OptionKind => ({
  expected: String(single),
  accepts: (value) => value === single,
});

/** One of these strings. */
export const oneOf = (...values: readonly string[]): OptionKind => ({
  expected: values
    .map((value) => `'${value}'`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1'),
  accepts: (value) => values.includes(value as string),
  isShown: true,
});

/** An object with these methods. */
export const withMethods = (expected: string, ...methods: readonly string[]): OptionKind => ({
  expected,
  accepts: (value) =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
});

/** An object of options. */
export const group = (inner: OptionShape): OptionKind => ({
  expected: `an object with ${Object.keys(inner).join(', ')}`,
  accepts: isObject,
  inner,
});

/**
 * Refuses unknown options and wrong types. The error names the option, says what it got and, for an unknown name, the nearest one.
 * An option that is there but undefined counts as left out.
 */
export function checkOptions(given: unknown, shape: OptionShape, prefix = ''): void {
  if (!isObject(given)) throw wrongOption('options', kinds.object, given);
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (kind === undefined) throw unknownOption(name, Object.keys(shape), prefix);
    if (value === undefined) continue;
    checkOption(prefix + name, kind, value);
    if (kind.inner && isObject(value)) checkOptions(value, kind.inner, `${prefix}${name}.`);
  }
}

/** Refuses a value that an option or an argument cannot have; undefined too, unless its kind accepts it. */
export function checkOption(name: string, kind: OptionKind, value: unknown): void {
  if (!kind.accepts(value)) throw wrongOption(name, kind, value);
}

/** The error of an option with a value it cannot have. */
const wrongOption = (name: string, kind: OptionKind, value: unknown): ConfigurationError =>
  new ConfigurationError(
    'invalid_option',
    setupMessages.optionInvalid(name, kind.expected, shown(value, kind)),
  );

function unknownOption(name: string, known: readonly string[], prefix: string): ConfigurationError {
  const near = nearest(name, known);
  return new ConfigurationError(
    'invalid_option',
    setupMessages.optionUnknown(
      prefix + name.slice(0, 40),
      near && prefix + near,
      known.map((each) => prefix + each),
    ),
  );
}

function shown(value: unknown, { isShown }: OptionKind): string {
  if (value === undefined) return 'nothing';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return isShown && value.length <= 20 ? JSON.stringify(value) : 'a string';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const type = Object.prototype.toString.call(value).slice(8, -1);
  return type === 'Object' ? 'an object' : `an object of type ${type}`;
}
