import { createHmac } from 'node:crypto';

/** A caller number as it is remembered: keyed by the account's salt, digits only, the North American 1 left out. */
export function callerMark(number: string, salt: string): string {
  return createHmac('sha256', salt).update(plainNumber(number)).digest('base64url');
}

/** A number by its digits, so that it compares equal however it was written. */
export function plainNumber(number: string): string {
  const digits = number.replace(/\D/g, '');
  return digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits || number;
}
