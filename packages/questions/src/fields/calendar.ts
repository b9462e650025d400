import { day, hour } from '@call-attribution/core/time';

// Days, weeks and months of naive time. It knows no field, so that periods can be read without the
// table of fields.

const zeroDay = Date.parse('0001-01-01T00:00:00Z');

/**
 * Days from Monday, the 1st of January of the year 1: no division of such a number rounds a
 * negative one.
 */
export const dayNumber = (millis: number): number => Math.floor((millis - zeroDay) / day);

/** Where a day begins. */
export const startOfDay = (number: number): number => zeroDay + number * day;

/** The start of the month of a time. */
export const monthStartOf = (millis: number): number => {
  const date = new Date(millis);
  return (Math.floor(millis / day) - (date.getUTCDate() - 1)) * day;
};

/** The day of the week of a time, 0 for Monday. */
export const weekdayOf = (millis: number): number => dayNumber(millis) % 7;

/** The hour of the day of a time. */
export const hourOf = (millis: number): number =>
  Math.floor((millis - Math.floor(millis / day) * day) / hour);

/** Days of the week in the order of ISO 8601. */
export const weekdays: readonly string[] = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** Is a group one of stretches of time that follow each other? */
export const isBucket = (name: string): name is 'day' | 'week' | 'month' =>
  name === 'day' || name === 'week' || name === 'month';
