import { type Call, phoneKey } from '@call-attribution/core';
import { type Measure, percentile, sum } from '@call-attribution/node-stream/operators';
import { nearest } from '@call-attribution/query-dsl';
import { selectField } from '../fields/select.ts';
import { ToolError } from '../text/failures.ts';
import type { KeyContext } from './keys.ts';

// What can be measured of calls that were read from the API, in memory. A warehouse has the same measures, and more.

/** What a measure gives. */
export type Value = number | string | null;

const minutesOf = ({ talk_minutes: minutes }: Call): number | null => {
  const value = minutes === null || minutes === '' ? Number.NaN : Number(minutes);
  return Number.isNaN(value) ? null : value;
};
const callerOf = ({ ani }: Call): string | null => phoneKey(ani) || null;

type Pair = readonly [number, number];

const of =
  <T>(start: () => T, add: (state: T, call: Call) => T, result: (state: T) => Value): Measure<Value> =>
  () => {
    let state = start();
    return {
      add: (call) => {
        state = add(state, call);
      },
      result: () => result(state),
    };
  };

const talked = of(
  (): Pair => [0, 0],
  ([missed, known], call): Pair => {
    const minutes = minutesOf(call);
    return [missed + (minutes === 0 ? 1 : 0), known + (minutes === null ? 0 : 1)];
  },
  ([missed, known]) => (known === 0 ? null : missed / known),
);
const callers = (least: number): Measure<Value> =>
  of(
    () => new Map<string, number>(),
    (seen, call) => {
      const caller = callerOf(call);
      return caller === null ? seen : seen.set(caller, (seen.get(caller) ?? 0) + 1);
    },
    (seen) => [...seen.values()].filter((calls) => calls >= least).length,
  );
const time = (better: (a: string, b: string) => boolean): Measure<Value> =>
  of(
    (): string | null => null,
    (best, { date_added: at }) => (best === null || better(at, best) ? at : best),
    (best) => best,
  );
const calls = of(
  () => 0,
  (n) => n + 1,
  (n) => n,
);

/** What can be measured of calls that were read, and what an empty group has. */
const measures: Readonly<Record<string, { readonly make: Measure<Value>; readonly empty: 0 | null }>> = {
  calls: { make: calls, empty: 0 },
  share: { make: calls, empty: 0 },
  missed: {
    make: of(
      () => 0,
      (n, call) => n + (minutesOf(call) === 0 ? 1 : 0),
      (n) => n,
    ),
    empty: 0,
  },
  missed_rate: { make: talked, empty: null },
  talk_sum: { make: sum<Call>(minutesOf) as Measure<Value>, empty: 0 },
  talk_mean: {
    make: of(
      (): Pair => [0, 0],
      ([tenths, known], call): Pair => {
        const minutes = minutesOf(call);
        return minutes === null ? [tenths, known] : [tenths + Math.round(minutes * 10), known + 1];
      },
      ([tenths, known]) => (known === 0 ? null : tenths / 10 / known),
    ),
    empty: null,
  },
  talk_median: { make: percentile<Call>(minutesOf, 50, { exact: true }), empty: null },
  talk_p90: { make: percentile<Call>(minutesOf, 90, { exact: true }), empty: null },
  callers: { make: callers(1), empty: 0 },
  repeat_callers: { make: callers(2), empty: 0 },
  first: { make: time((a, b) => a < b), empty: null },
  last: { make: time((a, b) => a > b), empty: null },
};

/** Measures that need every call of the account, or more than a record says. */
const onlyStored = ['first_time_callers', 'lag_median'];

/** Every measure that a question can name. */
const measureNames: readonly string[] = [...Object.keys(measures), ...onlyStored, 'distinct(field)'];

/** A measure with the name of its column, and what a group without calls has. */
export interface Measured {
  readonly column: string;
  readonly make: Measure<Value>;
  readonly empty: 0 | null;
}

const valueIn = (call: Readonly<Record<string, unknown>>, name: string): unknown => call[name];

/** A measure by name. */
export function measureOf(given: string, context: KeyContext): Measured {
  const name = given.trim().toLowerCase();
  const known = Object.hasOwn(measures, name) ? measures[name] : undefined;
  if (known) return { column: name, ...known };
  const field = /^distinct\(\s*([\w-]+)\s*\)$/.exec(name)?.[1];
  if (field !== undefined) {
    const spec = selectField(context.fields, context.version, field, []);
    const values = of(
      () => new Set<unknown>(),
      (seen, call) => {
        const value = valueIn(call, spec.name);
        return value === null || value === undefined || value === '' ? seen : seen.add(value);
      },
      (seen) => seen.size,
    );
    return { column: `distinct_${spec.name}`, make: values, empty: 0 };
  }
  if (onlyStored.includes(name)) throw new ToolError({ code: 'needs_mirror', what: `the measure ${name}` });
  const meant = nearest(name, measureNames);
  throw new ToolError({
    code: 'unknown_name',
    what: 'measure',
    name: given,
    nearest: meant,
    known: measureNames,
  });
}
