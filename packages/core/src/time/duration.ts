import { ConfigurationError } from '../errors/classes.ts';

const units = new Map(Object.entries({ ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 }));
const form = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/;

/**
 * A length of time: milliseconds, or a number with a unit such as `30s`, `15m`, `12h`, `7d`, `2w`.
 */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd' | 'w'}`;

/** Milliseconds of a duration with a unit, such as `90m`. NaN for anything else. */
export function parseDuration(text: string): number {
  const [, count, unit] = form.exec(text) ?? [];
  return Number(count) * (units.get(unit ?? '') ?? Number.NaN);
}

/**
 * Milliseconds of the value of an option. Throws a `ConfigurationError` for anything that is not a
 * duration.
 *
 * @param name the option, for the message.
 * @example
 * durationMillis('12h', 'settle'); // 43200000
 */
export function durationMillis(value: Duration, name: string): number {
  const millis = typeof value === 'string' ? parseDuration(value) : value;
  if (typeof millis === 'number' && Number.isFinite(millis) && millis >= 0) return millis;
  throw new ConfigurationError(
    'invalid_option',
    `${name} is ${JSON.stringify(value)}; expected milliseconds or a string such as '30s', '15m', '1h' or '7d'`,
  );
}

/** The same for a deadline: above 0, and `Infinity` is none. */
export function deadlineMillis(value: Duration, name: string): number {
  const millis = typeof value === 'string' ? parseDuration(value) : value;
  if (typeof millis === 'number' && millis > 0) return millis;
  throw new ConfigurationError(
    'invalid_option',
    `${name} is ${JSON.stringify(value)}; expected milliseconds above 0, a string such as '30s', or Infinity`,
  );
}
