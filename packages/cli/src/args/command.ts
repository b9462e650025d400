import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';

/** What was typed: values by the name of the option, words in order. */
export interface Args {
  /** The name of the command. */
  readonly command: string;
  readonly words: readonly string[];
  /** Whether the command has this option. */
  has(name: string): boolean;
  /** The value of an option, or null when it was not given. */
  text(name: string): string | null;
  /** The value of an option that the command cannot do without. */
  need(name: string): string;
  /** Whether an option was given. */
  flag(name: string): boolean;
  /** The values of an option that may be repeated, each also split at commas. */
  list(name: string): readonly string[];
  /** A whole number within bounds, or null when it was not given. */
  integer(name: string, bounds?: { min?: number; max?: number }): number | null;
}

/** The same for what was parsed. */
export function argsOf(
  command: string,
  words: readonly string[],
  names: readonly string[],
  values: ReadonlyMap<string, readonly string[]>,
): Args {
  const first = (name: string): string | null => values.get(name)?.[0] ?? null;
  return {
    command,
    words,
    has: (name) => names.includes(name),
    text: first,
    need: (name) => first(name) ?? '',
    flag: (name) => first(name) !== null,
    list: (name) => (values.get(name) ?? []).flatMap(listIn),
    integer(name, { min = 0, max = Number.POSITIVE_INFINITY } = {}) {
      const text = first(name);
      if (text === null) return null;
      const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
      if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
      const bound = max === Number.POSITIVE_INFINITY ? `, ${min} or greater` : ` from ${min} to ${max}`;
      throw new UsageError(`--${name} must be a whole number${bound}, not ${JSON.stringify(text)}`);
    },
  };
}

/** The parts of a list with commas. */
export const listIn = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/** Runs a command and resolves with its exit status. */
export type Handler = (args: Args, io: Io) => Promise<number>;
