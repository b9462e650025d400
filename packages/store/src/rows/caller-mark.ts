import { createHmac } from 'node:crypto';
import { phoneKey } from '@call-attribution/core/privacy';

/** A caller number as it is remembered: keyed by the account's salt, digits only, the North American 1 left out. */
export function callerMark(number: string, salt: string): string {
  return createHmac('sha256', salt).update(phoneKey(number)).digest('base64url');
}
