import { propertyOf } from '@call-attribution/core/errors';
import { ItemError } from '../errors.ts';

const decimal = /^-?\d+(?:\.\d+)?$/;

const kinds: Readonly<Record<string, string>> = {
  string: 'a string that is not a decimal number',
  number: 'not a finite number',
  boolean: 'a boolean',
};

/** The number in a wire value: a finite number or a decimal string. The error names the field, never the value. */
export function numberOf(value: unknown, field: string, item: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string' && decimal.test(value)) return Number(value);
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
