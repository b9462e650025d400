import { nearest } from '@call-attribution/query-dsl/nearest';
import { ConfigurationError } from './calls-error.ts';
import { setupMessages } from './setup-messages.ts';

/** What an option may be. */
export interface OptionKind {
  /** Ends the sentence "... must be ...". */
  readonly expected: string;
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
  object: { expected: 'an object', accepts: isObject },
  milliseconds: {
    expected: 'milliseconds above 0, or Infinity',
    accepts: (value) => typeof value === 'number' && value > 0,
    isShown: true,
  },
} as const satisfies Readonly<Record<string, OptionKind>>;

/** A whole number that is not too small. */
export const whole = (least: number): OptionKind => ({
  expected: `a whole number of at least ${least}`,
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= least,
  isShown: true,
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
    if (!kind.accepts(value)) throw wrongOption(prefix + name, kind, value);
    if (kind.inner) checkOptions(value, kind.inner, `${prefix}${name}.`);
  }
}

/** The error of an option with a value it cannot have. */
export const wrongOption = (name: string, kind: OptionKind, value: unknown): ConfigurationError =>
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
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return isShown && value.length <= 20 ? JSON.stringify(value) : 'a string';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const type = Object.prototype.toString.call(value).slice(8, -1);
  return type === 'Object' ? 'an object' : `an object of type ${type}`;
}
