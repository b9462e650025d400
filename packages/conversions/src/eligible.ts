import type { Call } from '@call-attribution/core';
import type { Reason, SheetOptions } from './format.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** Click ids are accepted for 90 days by the tools that limit them. */
export const clickLife = 90 * day;

// Attribution still runs in these states; a record without the field (v2) is taken as it is.
const open = new Set(['Not Processed', 'Waiting For Keyword']);

/** The reason that holds a call back for the state of its attribution, or null. */
export function openStatus(call: Call): Reason | null {
  return typeof call.ppc_status === 'string' && open.has(call.ppc_status) ? 'status_not_final' : null;
}

/** The reason that holds a call back for its age, or null. */
export function wrongAge(
  times: { readonly start: number; readonly click: number },
  options: SheetOptions,
  limits: { readonly minHours: number; readonly maxClickAge: number | null },
): Reason | null {
  if (times.start > options.now) return 'in_the_future';
  if (limits.maxClickAge !== null && options.now - times.click > limits.maxClickAge) return 'click_too_old';
  return options.now - times.start < (options.minAge ?? limits.minHours * hour) ? 'too_recent' : null;
}

/** A caller number as `+15551234567`, or null when it cannot be one. Ten digits are read as North American. */
export function e164(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const digits = text.replace(/[\s().-]/g, '');
  if (/^\+[1-9]\d{7,14}$/.test(digits)) return digits;
  if (/^1?[2-9]\d{2}[2-9]\d{6}$/.test(digits)) return `+1${digits.slice(-10)}`;
  return null;
}
