import { type Option, option } from '@call-attribution/core/options';
import { parseNaive } from '@call-attribution/core/time';

// Kinds of options that several parts of this package take, next to those of core.

/** A field, or a function that reads an item. */
export const reading = <V extends string | ((item: never) => unknown)>(): Option<V> =>
  option.of(
    'the name of a field or a function',
    (value) => typeof value === 'string' || typeof value === 'function',
  );

/** A time without a zone. */
export const naiveTime = (): Option<string> =>
  option.of("a time as 'YYYY-MM-DD HH:MM:SS'", (value) => !Number.isNaN(parseNaive(value)), true);

/** One operator that gives bytes, or several in a row. */
export const encoding = <V extends object>(): Option<V> =>
  option.of('an encoder such as toCsv(), or an array of encoders', (value) =>
    Array.isArray(value) ? value.every(isOperator) : isOperator(value),
  );

const isOperator = (value: unknown): boolean =>
  typeof value === 'function' && 'begin' in value && typeof value.begin === 'function';
