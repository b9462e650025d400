import { inspect } from 'node:util';
import { ConfigurationError } from '../errors/classes.ts';

const values = new WeakMap<Secret, string>();

/**
 * A string that does not print: String, JSON, `util.inspect` and template literals all show
 * `[secret]`. The value is not in any property of the object, so debuggers, snapshots and spreads
 * cannot show it either.
 */
export class Secret {
  /** Always `[secret]`. */
  toString(): string {
    return '[secret]';
  }
  /** Always `[secret]`. */
  toJSON(): string {
    return '[secret]';
  }
  /** Always `[secret]`. */
  [Symbol.toPrimitive](): string {
    return '[secret]';
  }
  /** Always `[secret]`. */
  [inspect.custom](): string {
    return '[secret]';
  }
}

/**
 * Wraps a string so that it cannot be printed by accident. Spaces and line ends around it are
 * removed.
 *
 * @param name what error messages call it, such as `access key`.
 * @example
 * const key = secret(readFileSync('/run/secrets/key', 'utf8'), 'access key');
 * console.log({ key }); // { key: [secret] }
 */
export function secret(value: string | Secret | undefined, name = 'secret'): Secret {
  if (value instanceof Secret) return value;
  const wrapped = new Secret();
  values.set(wrapped, usable(value, name));
  return wrapped;
}

/** The value of a secret, for the one place that puts it into a request. */
export function reveal(wrapped: Secret): string {
  const value = values.get(wrapped);
  if (value === undefined)
    throw new TypeError('The secret was not made by this copy of the package.');
  return value;
}

/** What to do when a key is missing. */
export const whenMissing = 'Is the environment variable set, and is its name spelled correctly?';

/** Trims a key and refuses what cannot be sent in a header. The error never holds the value. */
function usable(value: unknown, name: string): string {
  if (typeof value !== 'string')
    throw new ConfigurationError(
      'invalid_credentials',
      `The ${name} must be a string; found ${value === null ? 'null' : typeof value}.`,
      { hint: whenMissing },
    );

  const trimmed = value.trim();
  const problem = problems.find(({ pattern }) => pattern.test(trimmed));
  if (problem === undefined) return trimmed;
  const { what, hint } = problem;
  throw new ConfigurationError('invalid_credentials', `The ${name} ${what}.`, { hint });
}

const problems = [
  { pattern: /^$/, what: 'is empty', hint: whenMissing },
  {
    pattern: /[\r\n]/,
    what: 'has a line break inside',
    hint: 'Pass only the key: a file or two keys may have been pasted at once.',
  },
  {
    pattern: /[^!-~\u0080-\u{10ffff}]/u,
    what: 'has a space or a control character inside',
    hint: 'Pass only the key, without a label such as "Access key:".',
  },
  {
    pattern: /[^!-~]/,
    what: 'has a character outside ASCII',
    hint: 'Copy the key again from the key manager: word processors and mail programs replace hyphens and quotes.',
  },
  {
    pattern: /^["'].*["']$/,
    what: 'is wrapped in quotes',
    hint: 'Remove the quotes: some shells and .env readers keep them in the value.',
  },
];
