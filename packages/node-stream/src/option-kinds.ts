import { checkOptions, type OptionKind, type OptionShape, wrongOption } from '@call-attribution/core/errors';
import { parseDuration } from '@call-attribution/core/time';

// Kinds of options that several parts of this package take, next to those of core.

/** A length of time, as `durationMillis` reads it. */
export const duration: OptionKind = {
  expected: "milliseconds or a string such as '30s', '15m', '1h' or '7d'",
  accepts: (value) =>
    typeof value === 'string' ? parseDuration(value) >= 0 : typeof value === 'number' && value >= 0,
  isShown: true,
};

/** A limit, which may be infinite. */
export const atLeastOne: OptionKind = {
  expected: 'a number of at least 1',
  accepts: (value) => typeof value === 'number' && value >= 1,
  isShown: true,
};

/** A field, or a function that reads an item. */
export const reading: OptionKind = {
  expected: 'the name of a field or a function',
  accepts: (value) => typeof value === 'string' || typeof value === 'function',
};

/** One operator that gives bytes, or several in a row. */
export const encoding: OptionKind = {
  expected: 'an encoder such as toCsv(), or an array of encoders',
  accepts: (value) =>
    Array.isArray(value) ? value.length > 0 && value.every(isOperator) : isOperator(value),
};

const isOperator = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'begin' in value && typeof value.begin === 'function';

/** `checkOptions` for options of which some must be given. */
export function checkNeeded(given: unknown, shape: OptionShape, ...needed: readonly string[]): void {
  checkOptions(given, shape);
  for (const name of needed) {
    const value = (given as Record<string, unknown>)[name];
    const kind = shape[name];
    if (value === undefined && kind !== undefined) throw wrongOption(name, kind, value);
  }
}
