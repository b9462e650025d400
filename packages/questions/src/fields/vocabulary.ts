import type { FieldSpec, FieldType } from '@call-attribution/core';
import { fields } from '@call-attribution/core/record';
import { hour, minute, startOfWeek } from '@call-attribution/core/time';
import type { Term, Value } from '../conditions/condition.ts';
import { type ConditionResult, readCondition } from '../conditions/parse.ts';
import type { Batch } from './batch.ts';
import { dayNumber, type FieldSettings, hourOf, monthStartOf, startOfDay, weekdayOf } from './calendar.ts';
import { clickOf } from './click-ids.ts';
import {
  activity,
  activityTypes,
  type DerivedName,
  derivedFields,
  type Touch,
  type TouchName,
  weekdays,
} from './derived.ts';
import { integerOf, tenthsOf, textOf, timeOf } from './wire-values.ts';

/** A field that a question can name. */
export interface QuestionField extends Term {
  /** What it holds, in one sentence. */
  readonly meaning: string;
  /** Tells who the caller is or how to reach them. */
  readonly personal: boolean;
  /** A bucket of time: its groups are in order and have no gaps. */
  readonly isTime: boolean;
  /** Follows from the other calls of the caller. */
  readonly needsSequence: boolean;
}

/** A field with the way to read it. */
export interface ReadField extends QuestionField {
  /** Its value for a call. */
  readonly read: (call: Batch) => Value;
}

const timeBuckets: ReadonlySet<string> = new Set(['day', 'week', 'month', 'weekday', 'hour']);

/** Names that people use for derived fields. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  day: ['date'],
  hour: ['hour_of_day'],
  weekday: ['day_of_week'],
  missed: ['unanswered', 'is_missed', 'missed_call'],
  answered: ['is_answered', 'answered_call'],
  caller_type: ['new_or_returning', 'type_of_caller'],
  lag_minutes: ['lag'],
  is_extension: ['call_extension', 'extension'],
};

type Read = (call: Batch) => Value;
const atTime =
  (read: (time: number) => Value): Read =>
  ({ time }) =>
    time === null ? null : read(time);
const inHours = (millis: number | null | undefined): number | null =>
  millis === null || millis === undefined ? null : millis / hour;

const touchIn =
  ({ end, field }: Touch): Read =>
  ({ sequence }) =>
    textOf(sequence?.fieldOf(end, field));

function derivedReads(settings: FieldSettings): Readonly<Record<Exclude<DerivedName, TouchName>, Read>> {
  return {
    missed: ({ talk }) => (talk === null ? null : talk === 0),
    answered: ({ talk }) => (talk === null ? null : talk > 0),
    caller_type({ sequence }) {
      if (sequence === null) return null;
      return sequence.nth === 1 ? 'first' : 'returning';
    },
    lag_minutes: ({ lag }) => (lag === null ? null : lag / minute),
    click_id: (call) => clickOf((name) => call.value(name))?.id ?? null,
    click_kind: (call) => clickOf((name) => call.value(name))?.kind ?? null,
    activity_type: (call) => {
      const value = integerOf(call.value('activity_type_id'), true);
      return activityTypes[activity?.values?.findIndex((each) => Number(each) === value) ?? -1] ?? null;
    },
    day: atTime((time) => startOfDay(dayNumber(time))),
    week: atTime((time) => startOfWeek(time, settings.weekStart)),
    month: atTime(monthStartOf),
    weekday: atTime((time) => weekdays[weekdayOf(time)] ?? null),
    hour: atTime(hourOf),
    caller_nth: ({ sequence }) => sequence?.nth ?? null,
    hours_since_previous_call: ({ sequence }) => inHours(sequence?.sincePrevious),
    hours_until_next_call: ({ sequence }) => inHours(sequence?.untilNext),
  };
}

const daysOfWeek = ({ weekStart }: FieldSettings): readonly string[] =>
  weekStart === 'sunday' ? [...weekdays.slice(-1), ...weekdays.slice(0, -1)] : weekdays;

const numberKinds: Partial<Readonly<Record<FieldType, NonNullable<Term['number']>>>> = {
  integer: 'whole',
  'integer-string': 'whole',
  'decimal-string': 'tenths',
};

function readerOf(name: string, type: FieldType): Read {
  switch (type) {
    case 'datetime':
    case 'datetime-tenths':
      return (call) => timeOf(call.value(name));
    case 'decimal-string':
      return (call) => inTenths(tenthsOf(call.value(name)));
    case 'integer':
    case 'integer-string':
      return (call) => integerOf(call.value(name), type === 'integer');
    default:
      return (call) => textOf(call.value(name));
  }
}

const inTenths = (tenths: number | null): number | null => (tenths === null ? null : tenths / 10);

/** Fields that are read of each call in any case. */
const readOf: Readonly<Record<string, Read>> = {
  date_added: ({ time }) => time,
  talk_minutes: ({ talk }) => inTenths(talk),
};

function fieldTerm(spec: FieldSpec): ReadField {
  const { name, type, meaning, personal } = spec;
  const isTime = type === 'datetime' || type === 'datetime-tenths';
  const number = numberKinds[type];
  const valueType = number === undefined ? 'text' : 'number';
  const fieldType = isTime ? 'time' : valueType;
  const read = readOf[name] ?? readerOf(name, type);
  return {
    name,
    type: fieldType,
    ...(number === undefined ? {} : { number }),
    meaning,
    personal,
    isTime: false,
    needsSequence: false,
    read,
  };
}

/** All fields, as the weeks of a question begin. */
export function readFields(settings: FieldSettings): ReadonlyMap<string, ReadField> {
  const plain = { personal: false, isTime: false, needsSequence: false };
  const reads = derivedReads(settings);
  const list: ReadField[] = [
    ...fields.map(fieldTerm),
    {
      ...plain,
      name: 'account',
      type: 'text',
      meaning: 'Account that the call was counted for.',
      read: ({ account }) => account,
    },
    {
      ...plain,
      name: 'is_extension',
      type: 'boolean',
      meaning: 'The call came through a call extension of an ad.',
      read: ({ isExtension }) => isExtension,
    },
    ...derivedFields.map(
      (field): ReadField => ({
        ...plain,
        ...field,
        isTime: timeBuckets.has(field.name),
        needsSequence: 'needsSequence' in field,
        ...(field.name === 'week' && settings.weekStart === 'sunday'
          ? { weekStart: settings.weekStart }
          : {}),
        ...(field.name === 'weekday' ? { values: daysOfWeek(settings), isOrdered: true } : {}),
        read: 'touch' in field ? touchIn(field.touch) : reads[field.name],
      }),
    ),
  ];
  const byName = new Map(list.map((term) => [term.name, term]));
  const rename = (name: string, others: readonly string[]) => {
    const field = byName.get(name);
    for (const other of others) if (field && !byName.has(other)) byName.set(other, field);
  };
  for (const { name, otherNames: others = [] } of fields) rename(name, others);
  for (const [name, others] of Object.entries(otherNames)) rename(name, others);
  // The names that the API gave to ads fields, without the prefix that people leave out.
  for (const { name } of fields) if (name.startsWith('ppc_')) rename(name, [name.slice('ppc_'.length)]);
  return byName;
}

const known = readFields({});

/** All fields of a question by their names, those that people use for them included. */
export const questionFields = (): ReadonlyMap<string, QuestionField> => known;

/**
 * Reads a condition without asking anything: for editors, and for programs that change a condition before they pass it on.
 *
 * @example
 * const result = parseCondition("talk_minutes >= 2 AND state IN ('TX', 'CA')");
 * if (!result.ok) console.log(result.problem.message, result.problem.corrected);
 */
export function parseCondition(text: string): ConditionResult {
  return readCondition(text, known);
}
