import type { Call } from '@call-attribution/core';
import type { SheetOptions } from './format.ts';

/** The value of a call as sheets write it: empty when the sheet carries none, null when no rule holds. */
export function valueCell(call: Call, options: SheetOptions): string | null {
  if (!options.value) return '';
  const value = options.value(call);
  return value === null ? null : value.toFixed(2);
}
