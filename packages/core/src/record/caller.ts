import { phoneKey } from './phone.ts';

/** The fewest digits of a caller's number, and the most that any number has. */
const digits = { least: 7, most: 15 };

/**
 * Who made a call: equal for calls from one number, however it is written. Null for a call without
 * a caller: withheld (`Anonymous`), or a number of fewer than 7 or more than 15 digits, which is a
 * code that many callers share, such as `0`. Who calls two accounts is a caller of each.
 *
 * @example
 * callerOf({ ani: '+1 (555) 555-0100' }) === callerOf({ ani: '5555550100' }); // true
 */
export function callerOf({ ani }: { readonly ani?: unknown }): number | null {
  const key = phoneKey(ani);
  if (key.length < digits.least || key.length > digits.most) return null;

  // The digits after a 1, so that leading zeros count. Questions ask for those of all calls, and a
  // pattern and `Number` take several times as long.
  let number = 1;
  for (let i = 0; i < key.length; i += 1) {
    const digit = key.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return null;
    number = number * 10 + digit;
  }

  return number;
}
