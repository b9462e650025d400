import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { fields } from '@call-attribution/core/record';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { ItemError } from '../errors.ts';

/** What is read from an item: a field by name, or a function. */
export type Reading<T> = (keyof T & string) | ((item: T) => unknown);

/** A function that reads a field by its name, or the function given. */
export function reader<T>(of: Reading<T>): (item: T) => unknown {
  if (typeof of === 'function') return of;
  if (typeof of === 'string') return (item) => item[of];
  throw new ConfigurationError(
    'invalid_option',
    "Expected the name of a field, such as 'talk_minutes', or a function that reads an item.",
  );
}

/** The name of what is read, for settings; null for a function, which is not compared. */
export const nameOf = (of: unknown): string | null => (typeof of === 'string' ? of : null);

export const namesOf = (...all: readonly unknown[]): string[] =>
  all.filter((of) => typeof of === 'string');

/** Refuses fields that an item does not have. Null stands for any call. */
export function checkFields(
  kind: string,
  names: readonly string[] = [],
  item: unknown = null,
): void {
  if (typeof item !== 'object') return;
  const known = item === null ? callFields : Object.keys(item);
  const name = names.find((each) => !known.includes(each));
  if (name === undefined) return;
  const where = item === null ? 'calls' : 'the items';
  throw new ConfigurationError(
    'invalid_option',
    `${kind}: ${where} have no field ${name}. ${meantBy(name, known)} What is no field is read by a function.`,
  );
}

export const callFields: readonly string[] = fields.map(({ name }) => name);

/** Which of the names may be meant by one that is not among them. */
function meantBy(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  const [word = ''] = name.split('_');
  const alike = near === undefined ? known.filter((each) => each.startsWith(word)) : [near];
  if (alike.length > 0) return `Did you mean ${alike.slice(0, 3).join(' or ')}?`;
  return known.length > 20
    ? 'docs/fields.md lists the fields of calls.'
    : `There are ${known.join(', ')}.`;
}

/**
 * What groups, joins and duplicates are told apart by. Types stay apart: `'1'` is not 1, and
 * `'true'` is not true.
 */
export type Key = string | number | boolean | null;

/** The key in a value. Undefined is null; what cannot be compared is refused. */
export function keyOf(value: unknown, name: string, item: unknown): Key {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0;
  throw new ItemError(
    'unfit_value',
    `${name}${inCall(item)} is ${typeof value === 'number' ? 'not a finite number' : `of type ${typeof value}`}; expected a string, a finite number, true, false or null`,
  );
}

const decimal = /^-?\d+(?:\.\d+)?$/;

const kinds: Readonly<Record<string, string>> = {
  string: 'a string that is not a decimal number',
  number: 'not a finite number',
  boolean: 'a boolean',
};

/** The number in a wire value: a finite number or a decimal string. Undefined for anything else. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return typeof value === 'string' && decimal.test(value) ? Number(value) : undefined;
}

/** The same, or an error that names the field, never the value. */
export function numberOf(value: unknown, field: string, item: unknown): number {
  const number = numberIn(value);
  if (number !== undefined) return number;
  throw new ItemError(
    'unfit_value',
    `${field}${inCall(item)} is ${kinds[typeof value] ?? 'an object'}; expected a number or a decimal string such as "1.5"`,
  );
}

/** Where a value was found, for an error: the sid of its item, if that has one. */
export function inCall(item: unknown): string {
  const sid = propertyOf(item, 'sid');
  return typeof sid === 'string' ? ` in call ${sid}` : '';
}
