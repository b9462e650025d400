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

/** What fields that follow from others have in common. */
const plain = {
  personal: false,
  isTime: false,
  otherCalls: 'none',
  otherNames: [],
  needs: [],
  scale: 1,
} as const;
const bucket = { ...plain, isTime: true } as const;
const ofTalk = { ...plain, type: 'boolean', needs: ['talk_minutes'] } as const;
const afterOthers = { ...plain, otherCalls: 'earlier' } as const;
const amongAll = { ...plain, otherCalls: 'all' } as const;
const hours = { type: 'number', scale: hour } as const;

type Read = ReadField['read'];
const atTime =
  (read: (time: number) => Value): Read =>
  ({ time }) =>
    time === null ? null : read(time);
const inHours = (millis: number | null | undefined): number | null =>
  millis === null || millis === undefined ? null : millis / hour;

/** The fields that follow from others, or from other calls. */
export const derived: readonly ReadField[] = [
  {
    ...plain,
    name: 'account',
    type: 'text',
    meaning: 'Account that the call was counted for. A condition may use its ID or its name.',
    read: ({ lists }) => lists.account,
  },
  {
    ...plain,
    name: 'is_extension',
    type: 'boolean',
    otherNames: ['call_extension', 'extension'],
    meaning: 'The call came through a call extension of an ad.',
    read: ({ isExtension }) => isExtension,
  },
  {
    ...ofTalk,
    name: 'missed',
    otherNames: ['unanswered', 'is_missed', 'missed_call'],
    meaning: 'Nobody answered: the caller was never connected (talk_minutes is 0).',
    read: ({ talk }) => (talk === null ? null : talk === 0),
  },
  {
    ...ofTalk,
    name: 'answered',
    otherNames: ['is_answered', 'answered_call'],
    meaning: 'Somebody answered: the caller was connected (talk_minutes is above 0).',
    read: ({ talk }) => (talk === null ? null : talk > 0),
  },
  {
    ...afterOthers,
    name: 'caller_type',
    type: 'text',
    values: ['first', 'returning'],
    otherNames: ['new_or_returning', 'type_of_caller'],
    meaning:
      'first: no earlier call of the caller is in the account; returning: there is one. Null without a caller number.',
    read({ sequence }) {
      if (sequence === null) return null;
      return sequence.nth === 1 ? 'first' : 'returning';
    },
  },
  {
    ...plain,
    name: 'lag_minutes',
    type: 'number',
    scale: minute,
    otherNames: ['lag'],
    meaning:
      'Minutes from the first visit (displayed_timestamp) to the call. Null for call extensions.',
    needs: ['displayed_timestamp'],
    read: ({ lag }) => (lag === null ? null : lag / minute),
  },
  {
    ...plain,
    name: 'click_id',
    type: 'text',
    needs: clickPlaces,
    meaning: 'Click id of the ad: ppc_gclid, or the first one in the addresses of the visit.',
    read: (call) => clickOf((name) => call.value(name))?.id ?? null,
  },
  {
    ...plain,
    name: 'click_kind',
    type: 'text',
    values: clickKinds,
    needs: clickPlaces,
    meaning: 'Which kind of click id click_id is.',
    read: (call) => clickOf((name) => call.value(name))?.kind ?? null,
  },
  {
    ...plain,
    name: 'activity_type',
    type: 'text',
    values: activityTypes,
    meaning: 'What activity_type_id means.',
    needs: ['activity_type_id'],
    read(call) {
      const value = integerOf(call.value('activity_type_id'), true);
      return (
        activityTypes[activity?.values?.findIndex((each) => Number(each) === value) ?? -1] ?? null
      );
    },
  },
  {
    ...bucket,
    name: 'day',
    type: 'day',
    otherNames: ['date'],
    meaning: 'Day of date_added.',
    read: atTime((time) => startOfDay(dayNumber(time))),
  },
  {
    ...bucket,
    name: 'week',
    type: 'week',
    meaning: 'Monday of the week of date_added.',
    read: atTime(startOfWeek),
  },
  {
    ...bucket,
    name: 'month',
    type: 'month',
    meaning: 'First day of the month of date_added.',
    read: atTime(monthStartOf),
  },
  {
    ...bucket,
    name: 'weekday',
    type: 'text',
    otherNames: ['day_of_week'],
    isOrdered: true,
    values: weekdays,
    meaning: 'Day of the week of date_added, Mon to Sun.',
    read: atTime((time) => weekdays[weekdayOf(time)] ?? null),
  },
  {
    ...bucket,
    name: 'hour',
    type: 'number',
    otherNames: ['hour_of_day'],
    meaning: 'Hour of the day of date_added, 0 to 23.',
    read: atTime(hourOf),
  },
  {
    ...afterOthers,
    name: 'caller_nth',
    type: 'number',
    meaning: 'Which call of the caller to the account it is, from 1. Null without a caller number.',
    read: ({ sequence }) => sequence?.nth ?? null,
  },
  {
    ...afterOthers,
    ...hours,
    name: 'hours_since_previous_call',
    meaning: 'Hours since the call of the caller before it. Null for a first call.',
    read: ({ sequence }) => inHours(sequence?.sincePrevious),
  },
  {
    ...amongAll,
    ...hours,
    name: 'hours_until_next_call',
    meaning: 'Hours until the next call of the caller. Null for a last call.',
    read: ({ sequence }) => inHours(sequence?.untilNext),
  },
  ...Array.from(
    touches,
    ([name, { end, field }]): ReadField => ({
      ...(end === 'first' ? afterOthers : amongAll),
      name,
      type: 'text',
      needs: [field],
      meaning: `${touched.find((each) => each[1] === field)?.[2]} of the ${end} call of the caller to the account, of all calls that are known. Null without a caller number.`,
      read: ({ sequence }) => textOf(sequence?.fieldOf(end, field)),
    }),
  ),
];
