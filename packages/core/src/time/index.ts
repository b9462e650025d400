// The one home of time: naive times, durations and time zones. It uses nothing of Node.js, so that
// it runs in browsers.
export { type Clock, systemClock } from './clock.ts';
export { type Duration, deadlineMillis, durationMillis, parseDuration } from './duration.ts';
export type { Moment } from './moment.ts';
export {
  addDays,
  addMonths,
  day,
  formatNaive,
  formatNaiveTenths,
  hour,
  minute,
  parseNaive,
  parseTime,
  periodEnd,
  periodStart,
  second,
  startOfWeek,
  type TypedTime,
} from './naive.ts';
export {
  type ClosedPeriod,
  covers,
  dated,
  everything,
  hull,
  intersect,
  isIn,
  merge,
  type Period,
  type PeriodText,
  padded,
  periodBefore,
  periodOf,
  periodOfText,
  shift,
  subtract,
  textOf,
  undated,
} from './period.ts';
export {
  formatOffset,
  type Instant,
  instantOf,
  instantsOf,
  isTimeZone,
  naiveAt,
  offsetAt,
  zoneProblem,
} from './zone.ts';
