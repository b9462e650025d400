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

/**
 * A sum that carries its rounding errors along. For decimal strings they are rounded away at the end, to the most digits
 * that any of the summands had.
 */
export class DecimalSum {
  count = 0;
  #sum = 0;
  #lost = 0;
  #digits = 0;

  add(value: number, raw: unknown): void {
    this.count += 1;
    const next = this.#sum + value;
    this.#lost +=
      Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - next + value : value - next + this.#sum;
    this.#sum = next;
    if (this.#digits < 0) return;
    if (typeof raw === 'string') {
      const point = raw.indexOf('.');
      if (point >= 0) this.#digits = Math.max(this.#digits, raw.length - point - 1);
    } else if (!Number.isInteger(value)) this.#digits = -1;
  }

  get value(): number {
    const exact = this.#sum + this.#lost;
    return this.#digits < 0 || this.#digits > 15 ? exact : Number(exact.toFixed(this.#digits));
  }
}
