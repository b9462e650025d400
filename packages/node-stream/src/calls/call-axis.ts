import { hour, second } from '@call-attribution/core/time';
import type { Axis } from '../reader/axis.ts';

/** The order of calls: `date_added` in naive milliseconds. */
export const callAxis: Axis = {
  step: second,
  first: Date.UTC(1000, 0, 1),
  last: Date.UTC(9999, 11, 31),
  near: hour,
  far: 366 * 24 * hour,
  // Clocks change by hours and time zones differ by up to a day.
  slack: 26 * hour,
};
