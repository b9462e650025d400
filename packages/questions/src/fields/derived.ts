import { fields } from '@call-attribution/core/record';
import { hour, minute, startOfWeek } from '@call-attribution/core/time';
import type { Term, Value } from '../conditions/condition.ts';
import type { Batch } from './batch.ts';
import { dayNumber, hourOf, monthStartOf, startOfDay, weekdayOf, weekdays } from './calendar.ts';
import { clickKinds, clickOf, clickPlaces } from './click-ids.ts';
import { integerOf, textOf } from './wire-values.ts';

/** A field that a question can name. */
export interface QuestionField extends Term {
  /** What it holds, in one sentence. */
  readonly meaning: string;
  /** Tells who the caller is or how to reach them. */
  readonly personal: boolean;
  /** A bucket of time: its groups are in order and have no gaps. */
  readonly isTime: boolean;
  /** Which other calls of the caller it follows from. */
  readonly otherCalls: 'none' | 'earlier' | 'all';
}

/** A field with the way to read it. */
export interface ReadField extends QuestionField {
  /** Other names that people use for it. */
  readonly otherNames: readonly string[];
  /** The fields of a record that it is read of. */
  readonly needs: readonly string[];
  /** Of a number: how many steps make 1, so that sums of them are exact. */
  readonly scale: number;
  /** Its value for a call. */
  readonly read: (call: Batch) => Value;
}

/** A field of the first or the last call of a caller. */
export interface Touch {
  /** Which call. */
  readonly end: 'first' | 'last';
  /** Its field. */
  readonly field: string;
}

const touched = [
  ['campaign', 'ppc_campaign', 'Campaign'],
  ['keyword', 'ppc_keywords', 'Keyword'],
  ['source', 'referrer', 'Source (referrer)'],
] as const;

/** The fields that are a field of the first or the last call of the caller. */
export const touches: ReadonlyMap<string, Touch> = new Map(
  touched.flatMap(([name, field]) =>
    (['first', 'last'] as const).map((end) => [`caller_${end}_${name}`, { end, field }] as const),
  ),
);

const activity = fields.find(({ name }) => name === 'activity_type_id');
const activityTypes: readonly string[] = activity?.valueMeanings ?? [];

type Read = ReadField['read'];
const atTime =
  (read: (time: number) => Value): Read =>
  ({ time }) =>
    time === null ? null : read(time);
const inHours = (millis: number | null | undefined): number | null =>
  millis === null || millis === undefined ? null : millis / hour;

/** A field that follows from others; what is not said is as for most of them. */
const field = (
  name: string,
  type: ReadField['type'],
  meaning: string,
  read: Read,
  its: Partial<Omit<ReadField, 'name' | 'type' | 'meaning' | 'read'>> = {},
): ReadField => ({
  personal: false,
  isTime: false,
  otherCalls: 'none',
  otherNames: [],
  needs: [],
  scale: 1,
  ...its,
  name,
  type,
  meaning,
  read,
});

const callerType: Read = ({ sequence }) => {
  if (sequence === null) return null;
  return sequence.nth === 1 ? 'first' : 'returning';
};

const activityType: Read = (call) => {
  const value = integerOf(call.value('activity_type_id'), true);
  const at = activity?.values?.findIndex((each) => Number(each) === value) ?? -1;
  return activityTypes[at] ?? null;
};

const ofTouch = ([name, { end, field: source }]: readonly [string, Touch]): ReadField =>
  field(
    name,
    'text',
    `${touched.find((each) => each[1] === source)?.[2]} of the ${end} call of the caller to the account, of all calls that are known. Null without a caller number.`,
    ({ sequence }) => textOf(sequence?.fieldOf(end, source)),
    { otherCalls: end === 'first' ? 'earlier' : 'all', needs: [source] },
  );

/** The fields that follow from others, or from other calls. */
// biome-ignore format: one field a line
export const derived: readonly ReadField[] = [
  field('account', 'text', 'Account that the call was counted for. A condition may use its ID or its name.', ({ lists }) => lists.account),
  field('is_extension', 'boolean', 'The call came through a call extension of an ad.', ({ isExtension }) => isExtension, { otherNames: ['call_extension', 'extension'] }),
  field('missed', 'boolean', 'Nobody answered: the caller was never connected (talk_minutes is 0).', ({ talk }) => (talk === null ? null : talk === 0), { otherNames: ['unanswered', 'is_missed', 'missed_call'], needs: ['talk_minutes'] }),
  field('answered', 'boolean', 'Somebody answered: the caller was connected (talk_minutes is above 0).', ({ talk }) => (talk === null ? null : talk > 0), { otherNames: ['is_answered', 'answered_call'], needs: ['talk_minutes'] }),
  field('caller_type', 'text', 'first: no earlier call of the caller is in the account; returning: there is one. Null without a caller number.', callerType, { values: ['first', 'returning'], otherNames: ['new_or_returning', 'type_of_caller'], otherCalls: 'earlier' }),
  field('lag_minutes', 'number', 'Minutes from the first visit (displayed_timestamp) to the call. Null for call extensions.', ({ lag }) => (lag === null ? null : lag / minute), { otherNames: ['lag'], needs: ['displayed_timestamp'], scale: minute }),
  field('click_id', 'text', 'Click id of the ad: ppc_gclid, or the first one in the addresses of the visit.', (call) => clickOf((name) => call.value(name))?.id ?? null, { needs: clickPlaces }),
  field('click_kind', 'text', 'Which kind of click id click_id is.', (call) => clickOf((name) => call.value(name))?.kind ?? null, { values: clickKinds, needs: clickPlaces }),
  field('activity_type', 'text', 'What activity_type_id means.', activityType, { values: activityTypes, needs: ['activity_type_id'] }),
  field('day', 'day', 'Day of date_added.', atTime((time) => startOfDay(dayNumber(time))), { otherNames: ['date'], isTime: true }),
  field('week', 'week', 'Monday of the week of date_added.', atTime(startOfWeek), { isTime: true }),
  field('month', 'month', 'First day of the month of date_added.', atTime(monthStartOf), { isTime: true }),
  field('weekday', 'text', 'Day of the week of date_added, Mon to Sun.', atTime((time) => weekdays[weekdayOf(time)] ?? null), { values: weekdays, isOrdered: true, otherNames: ['day_of_week'], isTime: true }),
  field('hour', 'number', 'Hour of the day of date_added, 0 to 23.', atTime(hourOf), { otherNames: ['hour_of_day'], isTime: true }),
  field('caller_nth', 'number', 'Which call of the caller to the account it is, from 1. Null without a caller number.', ({ sequence }) => sequence?.nth ?? null, { otherCalls: 'earlier' }),
  field('hours_since_previous_call', 'number', 'Hours since the call of the caller before it. Null for a first call.', ({ sequence }) => inHours(sequence?.sincePrevious), { otherCalls: 'earlier', scale: hour }),
  field('hours_until_next_call', 'number', 'Hours until the next call of the caller. Null for a last call.', ({ sequence }) => inHours(sequence?.untilNext), { otherCalls: 'all', scale: hour }),
  ...[...touches].map(ofTouch),
];
