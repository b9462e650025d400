import type { Call } from '@call-attribution/core';
import { openStatus, wrongAge } from './eligible.ts';
import type { Reason, SheetOptions } from './format.ts';
import { callTimes, clickTime } from './times.ts';

/** A call that counts as the conversion of an ad click. Times in milliseconds. */
export interface Conversion {
  readonly id: string;
  readonly start: number;
  readonly end: number;
  /** When the visit with the click began, as far as the record tells. */
  readonly click: number;
  /** The value as sheets write it; empty when the sheet carries none. */
  readonly value: string;
  /** Empty when there is no value it would belong to. */
  readonly currency: string;
}

/** What a tool asks of a click. */
export interface ClickLimits {
  /** Hours after which the tool knows the click. */
  readonly minHours: number;
  /** Longest age of a click, in milliseconds; null for no limit. */
  readonly maxClickAge: number | null;
}

/** The conversion that a call with this click id is, or the reason why it is none yet or any more. */
export function conversionOf(
  call: Call,
  id: string | null,
  options: SheetOptions,
  limits: ClickLimits,
): Conversion | { reason: Reason } {
  if (id === null) return { reason: 'no_click_id' };
  const open = openStatus(call);
  if (open) return { reason: open };
  const times = callTimes(call, options);
  if ('reason' in times) return times;
  const click = clickTime(call, times.start, options);
  const age = wrongAge({ start: times.start, click }, options, limits);
  if (age) return { reason: age };
  const value = valueCell(call, options);
  if (value === null) return { reason: 'no_value' };
  return { id, ...times, click, value, currency: value === '' ? '' : (options.currency ?? '') };
}

/** The value of a call as sheets write it: empty when the sheet carries none, null when no rule holds. */
export function valueCell(call: Call, options: SheetOptions): string | null {
  if (!options.value) return '';
  const value = options.value(call);
  return value === null ? null : value.toFixed(2);
}
