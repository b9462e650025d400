import { checkNames } from '@call-attribution/core/options';
import { everything, formatNaive, type Period, second } from '@call-attribution/core/time';
import type { Filter } from '@call-attribution/query-dsl';
import { type FilterTest, filterTests, selectedBy } from '@call-attribution/questions/filter';
import { changeText } from './changes.ts';
import { columnOf } from './columns.ts';
import type { Value } from './database/driver.ts';
import { StoreError } from './database/errors.ts';

/** The cells of a field that a filter asks for. Null for no bound. */
export interface FieldRange {
  /** The field, as the table of fields names it. */
  readonly field: string;
  /** The least that it may be. */
  readonly from: string | number | null;
  /** The first number or time that is too much. */
  readonly before: string | number | null;
}

/** Which calls of an account. What is left out means all calls. */
export interface Selection {
  /** The stretch of time, and whether calls without a usable time belong to it. Default: all. */
  readonly period?: Period;
  /** Calls from call extensions are included; false leaves them out. Default: true. */
  readonly extensions?: boolean;
  /** What other fields have to be. Default: anything. */
  readonly ranges?: readonly FieldRange[];
  /**
   * Only calls that were stored or changed after this time, in milliseconds since 1970. Default:
   * any. See `changedAt` of the store.
   */
  readonly changedSince?: number;
}

/**
 * The selection of a parsed filter. `extensions` says whether calls from call extensions are
 * included when the filter does not have `inc_gce:1`: true in v2, false in v3.
 *
 * @example
 * const filter = parse('talk_minutes:[2 TO *]', { version: 'v3' });
 * await store.count('101', selectionOf(filter, { extensions: false }));
 */
export function selectionOf(filter: Filter, options: { extensions: boolean }): Selection {
  const { period, condition, extensions } = selectedBy(filter);
  return {
    period,
    extensions: extensions || options.extensions,
    ranges: filterTests(condition).map(rangeOf),
  };
}

/** The cells that a test asks for. Ignoring a field here would select more calls than it does. */
function rangeOf({ field, operator, value }: FilterTest): FieldRange {
  const column = columnOf.get(field);
  if (column === undefined)
    throw new StoreError('unfit_filter', `The store has no column ${field}.`);
  if (value === null) return { field, from: null, before: null };
  const { type, read } = column.kind;
  if (type === 'text')
    throw new StoreError('unfit_filter', `The values of ${field} are text, which has no ranges.`);
  if ((type === 'timestamp') !== (value.type === 'time'))
    throw new StoreError('unfit_filter', `${field} is compared with what none of its values is.`);

  // Calls have times of whole seconds, and numbers of whole parts: past a value is from the next.
  const isNext = operator === '>' || operator === '<=';
  const past = isNext ? second : 0;
  const scale = read('0.1') === 1 ? 10 : 1;
  const cell =
    value.type === 'time' ? timeText(value.millis + past) : partAt(value.text, isNext, scale);
  return operator.startsWith('>')
    ? { field, from: cell, before: null }
    : { field, from: null, before: cell };
}

/**
 * The least whole number of parts (such as tenths) at a bound, or the one after it, without
 * rounding errors.
 */
function partAt(text: string, isNext: boolean, scale: number): number {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(text) ?? [];
  const digits = scale === 10 ? whole + (fraction[0] ?? '0') : whole;
  const rest = /[1-9]/.test(scale === 10 ? fraction.slice(1) : fraction);
  const parts = Math.min(Number(digits), Number.MAX_SAFE_INTEGER - 1);

  // Not -0 for 0. What is behind the last digit that counts lies above it, or below it for a
  // negative number, which is cut towards 0.
  const cut = sign === '-' ? 0 - parts : parts;
  const isAbove = rest ? sign !== '-' : isNext;
  return isAbove ? cut + 1 : cut;
}

/**
 * A time in the form of a column, the next whole second where it is none: calls have times of whole
 * seconds. Before the year 1 and after 9999 there are no calls.
 */
function timeText(millis: number): string {
  if (millis < firstTime) return '0001-01-01 00:00:00';
  return millis > lastTime
    ? '9999-12-31 23:59:59'
    : formatNaive(Math.ceil(millis / second) * second);
}

const firstTime = Date.parse('0001-01-01T00:00:00Z');
const lastTime = Date.parse('9999-12-31T23:59:59Z');

/**
 * A run of calls in the index of times: those without a time, which come first, or those of a
 * period.
 */
export interface Stretch {
  readonly isDated: boolean;
  /** The time from which it is read; null for calls without one. */
  readonly from: string | null;
  /** The time before which it ends; null for no end. */
  readonly to: string | null;
}

const selectionNames = ['period', 'extensions', 'ranges', 'changedSince'];

/**
 * The stretches of a selection, in order. What is no selection, as a program without types may give
 * one, would select all calls.
 */
export function stretchesOf(selection: Selection): readonly Stretch[] {
  checkNames(selection, selectionNames, 'selection');
  const { from, to, undated } = selection.period ?? everything;
  const stretches: Stretch[] = [];
  if (undated !== 'without') stretches.push({ isDated: false, from: null, to: null });
  if (undated !== 'only' && (from === null || to === null || from < to))
    stretches.push({
      isDated: true,
      from: timeText(from ?? firstTime),
      to: to === null || to > lastTime ? null : timeText(to),
    });
  return stretches;
}

/** The conditions on anything but the time. */
export function otherConditions(
  { extensions = true, ranges = [], changedSince }: Selection,
  put: (value: Value) => string,
): string {
  const parts = extensions ? [] : [' AND extension = 0'];
  for (const { field, from, before } of ranges) {
    if (from === null && before === null) parts.push(` AND "${field}" IS NOT NULL`);
    if (from !== null) parts.push(` AND "${field}" >= ${put(from)}`);
    if (before !== null) parts.push(` AND "${field}" < ${put(before)}`);
  }

  if (changedSince !== undefined) parts.push(` AND changed_at > ${put(changeText(changedSince))}`);
  return parts.join('');
}

/** The parameters of one statement, numbered in the order in which they are added. */
export function parameters(...first: Value[]): { values: Value[]; put: (value: Value) => string } {
  const values = [...first];
  return { values, put: (value) => `$${values.push(value)}` };
}
