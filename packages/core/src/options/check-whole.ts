import { ConfigurationError } from '../errors/calls-error.ts';

/** Refuses a value that is not a whole number of at least `least`. */
export function checkWhole(value: unknown, name: string, least = 1): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return;
  const shown = typeof value === 'number' ? String(value) : `a ${typeof value}`;
  throw new ConfigurationError(
    'invalid_option',
    `${name} must be a whole number of at least ${least}; got ${shown}.`,
  );
}
