import { inspect } from 'node:util';
import { ConfigurationError } from '../errors/calls-error.ts';

const values = new WeakMap<Secret, string>();

/**
 * A text that does not print: String, JSON, `util.inspect` and template literals all give `[secret]`. The text itself is
 * in no property of the object, so that no debugger view, snapshot or spread can take it along.
 */
export class Secret {
  toString(): string {
    return '[secret]';
  }
  toJSON(): string {
    return '[secret]';
  }
  [Symbol.toPrimitive](): string {
    return '[secret]';
  }
  [inspect.custom](): string {
    return '[secret]';
  }
}

/** Wraps a text so that it cannot be printed by accident. Blanks and line ends around it are dropped. */
export function secret(value: string, what = 'secret'): Secret {
  const wrapped = new Secret();
  values.set(wrapped, usable(value, what));
  return wrapped;
}

/** The text of a secret, for the one place that puts it into a request. */
export function reveal(wrapped: Secret): string {
  return values.get(wrapped) as string;
}

/** Trims a key and refuses what could not travel in a header; the message never holds the value. */
function usable(value: unknown, what: string): string {
  const fail = (problem: string, hint: string): never => {
    throw new ConfigurationError('invalid_credentials', `The ${what} ${problem}.`, { hint });
  };
  if (typeof value !== 'string')
    return fail(
      `must be a string; found ${value === null ? 'null' : typeof value}`,
      'Is the environment variable set?',
    );
  const trimmed = value.trim();
  if (trimmed === '') return fail('is empty', 'Is the environment variable set?');
  for (const character of trimmed) {
    const code = character.codePointAt(0) as number;
    if (code === 10 || code === 13) return fail('has a line break inside', 'Keep only the key.');
    if (code <= 32 || code === 127)
      return fail('has a blank or control character inside', 'Keep only the key, without labels.');
    if (code > 126) return fail('has a character outside ASCII', 'Copy the key again.');
  }
  if (/^["'].*["']$/.test(trimmed)) return fail('is wrapped in quotes', 'Take the quotes away.');
  return trimmed;
}
