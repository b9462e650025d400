import { nearest } from '@call-attribution/query-dsl/nearest';
import { ConfigurationError } from '../errors/classes.ts';

/**
 * Refuses names that an object of options does not have: a misspelled option would have no effect,
 * and nobody would see it.
 *
 * @param at what the object is called, such as `timeout`; the options of a function have no name.
 * @example
 * checkNames({ rows: 5, filtre: '' }, ['rows', 'filter']); // There is no option filtre. Did you
 * mean filter?
 */
export function checkNames(
  given: unknown,
  known: readonly string[],
  at = '',
): asserts given is object {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new ConfigurationError(
      'invalid_option',
      `${at || 'options'} must be an object with ${known.join(', ')}.`,
    );

  const prefix = at === '' ? '' : `${at}.`;
  const name = Object.keys(given).find((each) => !known.includes(each));
  if (name === undefined) return;
  const near = nearest(name, known);
  const all = known.map((each) => prefix + each).join(', ');
  throw new ConfigurationError(
    'invalid_option',
    `There is no option ${prefix}${name.slice(0, 40)}.`,
    {
      hint: near === undefined ? `Known options: ${all}.` : `Did you mean ${prefix}${near}?`,
    },
  );
}

/** The names of deadlines, and of what says when a request is sent again. */
const requestNames = {
  timeout: ['connect', 'idle', 'attempt', 'total'],
  retry: ['attempts', 'baseDelay', 'maxDelay', 'afterSilence'],
} as const;

/** Refuses names that `timeout` and `retry` do not have, and what is no signal. */
export function checkRequestNames(options: {
  readonly timeout?: unknown;
  readonly retry?: unknown;
  readonly signal?: unknown;
}): void {
  const { timeout, retry, signal } = options;
  // A length of time is for all deadlines.
  if (timeout !== undefined && typeof timeout !== 'string' && typeof timeout !== 'number')
    checkNames(timeout, requestNames.timeout, 'timeout');
  if (retry !== undefined) checkNames(retry, requestNames.retry, 'retry');
  if (signal && !('aborted' in Object(signal)))
    throw new ConfigurationError(
      'invalid_option',
      'signal must be an AbortSignal, such as controller.signal.',
    );
}

/** Refuses a value that is not a whole number of at least `least`. */
export function checkWhole(value: unknown, name: string, least = 1): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return;
  const shown = typeof value === 'number' ? String(value) : `a ${typeof value}`;
  throw new ConfigurationError(
    'invalid_option',
    `${name} must be a whole number of at least ${least}; got ${shown}.`,
  );
}

/** Refuses one name where a list of names is expected: its letters would be taken for them. */
export function checkList(option: string, value: unknown): void {
  if (typeof value === 'string')
    throw new ConfigurationError(
      'invalid_option',
      `${option} is a string; expected a list: ${option}: ['${value}'].`,
    );
}
