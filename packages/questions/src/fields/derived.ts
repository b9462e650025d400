import { fields } from '@call-attribution/core/record';
import type { Term } from '../conditions/condition.ts';
import { clickKinds } from './click-ids.ts';

// Fields that follow from others: what they are called and hold. `vocabulary.ts` reads them, a database has an expression for each.

/** Days of the week in the order of ISO 8601. */
export const weekdays: readonly string[] = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** The field of the kind of activity. */
export const activity = fields.find(({ name }) => name === 'activity_type_id');

/** The meanings of `activity_type_id`, in the order of its values. */
export const activityTypes: readonly string[] = activity?.valueMeanings ?? [];

/** Something that follows from the fields of a call. */
export interface DerivedField extends Pick<Term, 'name' | 'type' | 'number' | 'values'> {
  /** What it holds, in one sentence. */
  readonly meaning: string;
  /** Follows from the other calls of the caller. */
  readonly needsSequence?: true;
  /** It is this field of the first or last call of the caller. */
  readonly touch?: Touch;
}

/** A field of the first or the last call of a caller. */
export interface Touch {
  /** Which call. */
  readonly end: 'first' | 'last';
  /** Its field. */
  readonly field: string;
}

const touch = <const Name extends string>(name: Name, end: Touch['end'], field: string, what: string) =>
  ({
    name,
    type: 'text',
    meaning: `${what} of the ${end} call of the caller to the account, of all calls that are known. Null without a caller number.`,
    needsSequence: true,
    touch: { end, field },
  }) as const satisfies DerivedField;

/** All derived fields. A database has an expression for each. */
export const derivedFields = [
  {
    name: 'missed',
    type: 'boolean',
    meaning: 'Nobody answered: the caller was never connected (talk_minutes is 0).',
  },
  {
    name: 'answered',
    type: 'boolean',
    meaning: 'Somebody answered: the caller was connected (talk_minutes is above 0).',
  },
  {
    name: 'caller_type',
    type: 'text',
    values: ['first', 'returning'],
    meaning:
      'first: no earlier call of the caller is in the account; returning: there is one. Null without a caller number.',
    needsSequence: true,
  },
  {
    name: 'lag_minutes',
    type: 'number',
    number: 'float',
    meaning: 'Minutes from the first visit (displayed_timestamp) to the call. Null for call extensions.',
  },
  {
    name: 'click_id',
    type: 'text',
    meaning: 'Click id of the ad: ppc_gclid, or the first one in the addresses of the visit.',
  },
  { name: 'click_kind', type: 'text', values: clickKinds, meaning: 'Which kind of click id click_id is.' },
  { name: 'activity_type', type: 'text', values: activityTypes, meaning: 'What activity_type_id means.' },
  { name: 'day', type: 'day', meaning: 'Day of date_added.' },
  {
    name: 'week',
    type: 'week',
    meaning: 'First day of the week of date_added, a Monday unless weeks begin on Sundays.',
  },
  { name: 'month', type: 'month', meaning: 'First day of the month of date_added.' },
  { name: 'weekday', type: 'text', values: weekdays, meaning: 'Day of the week of date_added, Mon to Sun.' },
  { name: 'hour', type: 'number', number: 'whole', meaning: 'Hour of the day of date_added, 0 to 23.' },
  {
    name: 'caller_nth',
    type: 'number',
    number: 'whole',
    meaning: 'Which call of the caller to the account it is, from 1. Null without a caller number.',
    needsSequence: true,
  },
  {
    name: 'hours_since_previous_call',
    type: 'number',
    number: 'float',
    meaning: 'Hours since the call of the caller before it. Null for a first call.',
    needsSequence: true,
  },
  {
    name: 'hours_until_next_call',
    type: 'number',
    number: 'float',
    meaning: 'Hours until the next call of the caller. Null for a last call.',
    needsSequence: true,
  },
  touch('caller_first_campaign', 'first', 'ppc_campaign', 'Campaign'),
  touch('caller_last_campaign', 'last', 'ppc_campaign', 'Campaign'),
  touch('caller_first_keyword', 'first', 'ppc_keywords', 'Keyword'),
  touch('caller_last_keyword', 'last', 'ppc_keywords', 'Keyword'),
  touch('caller_first_source', 'first', 'referrer', 'Source (referrer)'),
  touch('caller_last_source', 'last', 'referrer', 'Source (referrer)'),
] as const satisfies readonly DerivedField[];

/** The name of a derived field. */
export type DerivedName = (typeof derivedFields)[number]['name'];

/** A derived field that is a field of another call. */
export type TouchName = Extract<(typeof derivedFields)[number], { readonly touch: Touch }>['name'];

/** Which field of which call each of them is. */
export const touches: ReadonlyMap<string, Touch> = new Map(
  derivedFields.flatMap((field) => ('touch' in field ? [[field.name, field.touch] as const] : [])),
);
