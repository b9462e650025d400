import { parseNaive } from '@call-attribution/core/time';

// What a value of a record says, whatever form it was sent in.

const most = 200_000;

/** Remembers what a function makes of a text, for values that come again and again. */
export function remembered<V>(make: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined || known.has(text)) return found as V;
    const made = make(text);
    if (known.size >= most) known.clear();
    known.set(text, made);
    return made;
  };
}

/** A naive time in milliseconds; or null. The year 0 has no times. */
export function timeOf(value: unknown): number | null {
  const time = typeof value !== 'string' || value.startsWith('0000') ? Number.NaN : parseNaive(value);
  return Number.isNaN(time) ? null : time;
}

/** A text, with the replacement character where half of a surrogate pair was. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.isWellFormed() ? text : text.toWellFormed();
}

const tenthsOfText = remembered((text) => {
  const [, sign = '', whole, tenth = '0'] = /^(-?)0*(\d{1,8})(?:\.(\d)0*)?$/.exec(text) ?? [];
  return whole === undefined ? null : Number(`${sign}${whole}${tenth}`) + 0;
});

/** A decimal number in tenths; or null, as for a finer one. */
export const tenthsOf = (value: unknown): number | null =>
  typeof value === 'string' || typeof value === 'number' ? tenthsOfText(String(value)) : null;

/** A whole number. As text, it has nine digits at most; as a number, so it has unless it `isWide`. */
export function integerOf(value: unknown, isWide: boolean): number | null {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && (isWide || Math.abs(value) < 1e9) ? value + 0 : null;
  const isNumber = typeof value === 'string' && /^-?0*\d{1,9}$/.test(value);
  return isNumber ? Number(value) + 0 : null;
}
