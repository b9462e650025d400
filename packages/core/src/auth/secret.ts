import { inspect } from 'node:util';
import { ConfigurationError } from '../errors/calls-error.ts';
import { type SecretProblem, setupMessages } from '../errors/setup-messages.ts';

const values = new WeakMap<Secret, string>();

/**
 * A string that does not print: String, JSON, `util.inspect` and template literals all show `[secret]`. The value is not
 * in any property of the object, so debuggers, snapshots and spreads cannot show it either.
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
 * Wraps a string so that it cannot be printed by accident. Spaces and line ends around it are removed.
 *
 * @param name what error messages call it, such as `access key`.
 * @example
 * const key = secret(readFileSync('/run/secrets/key', 'utf8'), 'access key');
 * console.log({ key }); // { key: [secret] }
 */
export function secret(value: string | undefined, name = 'secret'): Secret {
  const wrapped = new Secret();
  values.set(wrapped, usable(value, name));
  return wrapped;
}

/** The value of a secret, for the one place that puts it into a request. */
export function reveal(wrapped: Secret): string {
  const value = values.get(wrapped);
  if (value === undefined) throw new TypeError('The secret was not made by this copy of the package.');
  return value;
}

/** Trims a key and refuses what cannot be sent in a header. The error never holds the value. */
function usable(value: unknown, name: string): string {
  if (typeof value !== 'string')
    throw new ConfigurationError(
      'invalid_credentials',
      setupMessages.secretNotString(name, value === null ? 'null' : typeof value),
    );
  const trimmed = value.trim();
  const problem = problemOf(trimmed);
  if (problem === undefined) return trimmed;
  throw new ConfigurationError('invalid_credentials', setupMessages.secretInvalid(name, problem));
}

function problemOf(value: string): SecretProblem | undefined {
  if (value === '') return 'missing';
  for (const character of value) {
    const code = character.codePointAt(0) ?? 0;
    if (code === 10 || code === 13) return 'line_break';
    if (code <= 32 || code === 127) return 'space';
    if (code > 126) return 'not_ascii';
  }
  return /^["'].*["']$/.test(value) ? 'quoted' : undefined;
}
