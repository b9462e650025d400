import { nearest } from '@call-attribution/query-dsl/nearest';
import { ConfigurationError } from '../errors/calls-error.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import type { Entries, Entry } from './entry.ts';

/** Is this a plain object? */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Object.prototype.toString.call(value) === '[object Object]';

/**
 * Refuses unknown options and wrong types. The error names the option, says what it got and, for an unknown name, the nearest one.
 * An option that is there but undefined counts as left out.
 */
export function checkEntries(given: unknown, entries: Entries, prefix: string): void {
  if (!isObject(given)) throw wrongOption('options', { expected: 'an object' }, given);
  for (const [name, value] of Object.entries(given)) {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (entry === undefined) throw unknownOption(name, Object.keys(entries), prefix);
    if (value === undefined) continue;
    checkOption(prefix + name, entry, value);
  }
  for (const [name, entry] of Object.entries(entries))
    if (entry.isNeeded && given[name] === undefined) throw wrongOption(prefix + name, entry, undefined);
}

/** What was given, as it is read; with defaults for what was left out, unless `isOpen`. */
export function fillEntries(
  given: unknown,
  entries: Entries,
  isOpen = false,
): Readonly<Record<string, unknown>> {
  const filled: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(entries)) {
    const own = isObject(given) ? given[name] : undefined;
    const value = own === undefined && !isOpen ? entry.initial : own;
    if (value !== undefined) filled[name] = entry.fill(value);
  }
  return filled;
}

/** Refuses a value that an option or an argument cannot have; undefined too, unless it is accepted. */
export function checkOption<V>(name: string, entry: Entry<V, unknown>, value: unknown): asserts value is V {
  if (!entry.accepts(value)) throw wrongOption(name, entry, value);
  entry.check?.(value, name);
}

/** The error of an option with a value it cannot have. */
const wrongOption = (
  name: string,
  { expected, isShown = false }: Pick<Entry, 'expected' | 'isShown'>,
  value: unknown,
): ConfigurationError =>
  new ConfigurationError(
    'invalid_option',
    setupMessages.optionInvalid(name, expected, shown(value, isShown)),
  );

function unknownOption(name: string, known: readonly string[], prefix: string): ConfigurationError {
  const near = nearest(name, known);
  return new ConfigurationError(
    'invalid_option',
    setupMessages.optionUnknown(
      prefix + name.slice(0, 40),
      near && prefix + near,
      known.map((each) => prefix + each),
    ),
  );
}

function shown(value: unknown, isShown: boolean): string {
  if (value === undefined) return 'nothing';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return isShown && value.length <= 20 ? JSON.stringify(value) : 'a string';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const type = Object.prototype.toString.call(value).slice(8, -1);
  return type === 'Object' ? 'an object' : `an object of type ${type}`;
}
