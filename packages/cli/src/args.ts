import { parseDuration } from '@call-attribution/core/time';
import { UsageError } from './errors.ts';
import type { Io } from './io.ts';

/**
 * What was typed: values by the name of the option, words in order. `Name` is the names of the
 * options that the command has.
 */
export interface Args<Name extends string = string> {
  /** The name of the command. */
  readonly command: string;
  readonly words: readonly string[];
  /** Whether the command has this option. */
  has(name: string): boolean;
  /** The value of an option; null when it was not given, or the command does not have it. */
  text(name: Name): string | null;
  /** The value of an option that the command cannot do without. */
  need(name: Name): string;
  /** Whether an option was given. */
  flag(name: Name): boolean;
  /** The values of an option that may be repeated, each also split at commas. */
  list(name: Name): readonly string[];
  /**
   * The value of an option that is a whole number, within the bounds that were checked when it was
   * parsed.
   */
  integer(name: Name): number | null;
}

/** The same for what was parsed. */
export function argsOf(
  command: string,
  words: readonly string[],
  names: readonly string[],
  values: ReadonlyMap<string, readonly string[]>,
): Args {
  const text = (name: string): string | null => values.get(name)?.[0] ?? null;
  return {
    command,
    words,
    text,
    has: (name) => names.includes(name),
    need: (name) => text(name) ?? '',
    flag: (name) => values.has(name),
    list: (name) => (values.get(name) ?? []).flatMap(listIn),
    integer: (name) => (values.has(name) ? Number(text(name)) : null),
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

/** The value of an option that is a duration, in milliseconds: more than 0, or at least `min`. */
export function interval(args: Args, name: string, { min = 1 } = {}): number | null {
  const text = args.text(name);
  if (text === null) return null;
  const length = parseDuration(text);
  if (length >= min) return length;
  throw new UsageError(
    `--${name} must be a duration such as 90s, 10m, 1h or 7d, not ${JSON.stringify(text)}`,
  );
}
