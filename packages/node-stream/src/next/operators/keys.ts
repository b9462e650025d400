import { ItemError } from '../../errors.ts';
import { inCall } from '../accumulators/decimal.ts';

/** What groups, joins and duplicates are told apart by. Types stay apart: `'1'` is not 1, and `'true'` is not true. */
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
