import { type Call, type FieldSpec, isCallExtension, type Version } from '@call-attribution/core';
import { itemAt } from '@call-attribution/core/errors';
import { addMonths, day, formatNaive, parseNaive } from '@call-attribution/core/time';
import { findField, selectField } from '../fields/select.ts';
import { type Cell, keyTextLimit, type RecordView } from '../fields/view.ts';
import { ToolError } from '../text/failures.ts';

// What calls are grouped by when they are read from the API. A warehouse has the same groups, and more.

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

const millisOf = (time: string): number => parseNaive(time.slice(0, 19));
const dateOf = (millis: number): string => formatNaive(millis).slice(0, 10);
const weekdayOf = (millis: number): number => (new Date(millis).getUTCDay() + 6) % 7;

/** Parts of `date_added`, read from the time as it was sent: no time zone is applied. Each gives its values in order. */
interface TimePart {
  of(millis: number): Cell;
  /** All values of a period, so that empty ones are shown too. */
  all(from: number, to: number): Cell[];
}

const steps = (from: number, to: number, next: (millis: number) => number, name: TimePart['of']): Cell[] => {
  const values: Cell[] = [];
  for (let at = from; at < to && values.length < 5000; at = next(at)) values.push(name(at));
  return values;
};
const dayOf = (millis: number): number => Math.floor(millis / day) * day;
const mondayOf = (millis: number): number => dayOf(millis) - weekdayOf(millis) * day;
const firstOf = (millis: number): number => parseNaive(`${dateOf(millis).slice(0, 7)}-01 00:00:00`);

/** Parts of the time of a call, by name. */
const timeParts: Readonly<Record<string, TimePart>> = {
  day: { of: dateOf, all: (from, to) => steps(dayOf(from), to, (at) => at + day, dateOf) },
  week: {
    of: (millis) => dateOf(mondayOf(millis)),
    all: (from, to) => steps(mondayOf(from), to, (at) => at + 7 * day, dateOf),
  },
  month: {
    of: (millis) => dateOf(millis).slice(0, 7),
    all: (from, to) =>
      steps(
        firstOf(from),
        to,
        (at) => addMonths(at, 1),
        (at) => dateOf(at).slice(0, 7),
      ),
  },
  weekday: { of: (millis) => weekdays[weekdayOf(millis)] ?? null, all: () => [...weekdays] },
  hour: {
    of: (millis) => new Date(millis).getUTCHours(),
    all: () => Array.from({ length: 24 }, (_, hour) => hour),
  },
};

/** Groups that need every call of the account, or more than a record has. */
const onlyStored = ['caller_type', 'lag_minutes', 'click_id', 'click_kind'];

/** Groups that are not fields, but derived from one. */
const derived: Readonly<Record<string, { readonly field: string; of(call: Call): Cell }>> = {
  missed: { field: 'talk_minutes', of: (call) => String(Number(call.talk_minutes) === 0) },
  is_extension: { field: 'channel', of: (call) => String(isCallExtension(call)) },
};

/** Everything that calls can be grouped by besides fields. */
export const derivedNames: readonly string[] = [
  ...Object.keys(timeParts),
  ...Object.keys(derived),
  'activity_type',
  ...onlyStored,
];

/** One thing that calls are grouped by. */
export interface GroupKey {
  readonly name: string;
  /** The field it comes from. */
  readonly spec: FieldSpec;
  readonly time: TimePart | null;
  of(call: Call): Cell;
}

/** The fields and the view of an account. */
export interface KeyContext {
  readonly fields: readonly FieldSpec[];
  readonly version: Version;
  readonly view: RecordView;
}

/** Turns the name of a field or of something derived from one into a key, masked and fenced as every value. */
export function groupKey(given: string, { fields, version, view }: KeyContext): GroupKey {
  const name = given
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
    .replace(/^date$/, 'day');
  const own = (field: string): FieldSpec =>
    itemAt(
      fields.filter((spec) => spec.name === field),
      0,
    );
  const time = Object.hasOwn(timeParts, name) ? timeParts[name] : undefined;
  if (time) {
    return {
      name,
      spec: own('date_added'),
      time,
      of: (call) => time.of(millisOf(String(call.date_added))),
    };
  }
  const made = Object.hasOwn(derived, name) ? derived[name] : undefined;
  if (made) return { name, spec: own(made.field), time: null, of: made.of };
  if (name === 'activity_type') {
    const spec = own('activity_type_id');
    const meaning = (id: unknown): Cell =>
      spec.valueMeanings?.[spec.values?.indexOf(Number(id)) ?? -1] ?? null;
    return { name, spec, time: null, of: (call) => meaning(call.activity_type_id) };
  }
  if (onlyStored.includes(name)) throw new ToolError({ code: 'needs_mirror', what: `group_by ${name}` });
  const spec = findField(fields, name) ?? selectField(fields, version, given, derivedNames);
  const specs = [selectField(fields, version, spec.name, derivedNames)];
  return { name: spec.name, spec, time: null, of: (call) => view(call, specs, keyTextLimit)[0] ?? null };
}
