import { type Call, isCallExtension, phoneKey } from '@call-attribution/core';
import { day, formatNaive, instantOf, naiveAt, parseNaive, parseTime } from '@call-attribution/core/time';
import type { AnswerValue, Question } from '../src/index.ts';

// What a record says, and whether a condition is true of it, in plain JavaScript.

export interface Row {
  readonly account: string;
  readonly call: Call;
}

/** A record with everything that questions are about worked out. */
export interface Facts {
  readonly row: Row;
  readonly record: Readonly<Record<string, unknown>>;
  readonly time: number | null;
  readonly talk: number | null;
  readonly caller: string | null;
  readonly isExtension: boolean;
  readonly isFirst: boolean;
  readonly lag: number | null;
}

const naive = (text: unknown): number | null => {
  const millis = parseNaive(text);
  return Number.isNaN(millis) ? null : millis;
};

function tenths(text: unknown): number | null {
  if (typeof text !== 'string' || !/^-?\d+(\.\d0*)?$/.test(text)) return null;
  const value = Math.round(Number(text) * 10);
  return Math.abs(value) < 1e9 ? value : null;
}

function callerOf(ani: unknown): string | null {
  const key = typeof ani === 'string' ? phoneKey(ani) : '';
  return /^\d{1,18}$/.test(key) ? key : null;
}

export function factsOf(rows: readonly Row[], { timeZone, inZone }: Question): Facts[] {
  const shown = (time: number): number =>
    timeZone && inZone ? naiveAt(instantOf(time, timeZone).epochMs, inZone) : time;
  const firsts = new Map<string, { time: number; sid: string }>();
  const callerIn = ({ account, call }: Row) => `${account} ${callerOf(call.ani)}`;
  const place = ({ call }: Row) => ({
    time: naive(call.date_added) ?? Number.POSITIVE_INFINITY,
    sid: String(call.sid),
  });
  for (const row of rows) {
    const [known, own] = [firsts.get(callerIn(row)), place(row)];
    if (!known || own.time < known.time || (own.time === known.time && own.sid < known.sid))
      firsts.set(callerIn(row), own);
  }
  return rows.map((row) => {
    const { call } = row;
    const [time, seen, isExtension] = [
      naive(call.date_added),
      naive(call.displayed_timestamp),
      isCallExtension(call),
    ];
    const caller = callerOf(call.ani);
    const hasLag = !isExtension && time !== null && seen !== null && seen <= time;
    return {
      row,
      record: call as unknown as Record<string, unknown>,
      time: time === null ? null : shown(time),
      talk: tenths(call.talk_minutes),
      caller,
      isExtension,
      isFirst: caller !== null && firsts.get(callerIn(row))?.sid === call.sid,
      lag: hasLag ? Math.floor((time - seen + 3000) / 6000) : null,
    };
  });
}

export const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
export const dateText = (millis: number): string => formatNaive(millis).slice(0, 10);
export const weekdayAt = (millis: number): number => (new Date(millis).getUTCDay() + 6) % 7;

/** A field or derived field of a record. */
export function fieldOf(name: string, facts: Facts): AnswerValue {
  const { record, time, talk, caller, isExtension, isFirst, lag, row } = facts;
  switch (name) {
    case 'account':
      return row.account;
    case 'is_extension':
      return isExtension;
    case 'missed':
      return talk === null ? null : talk === 0;
    case 'caller_type':
      return caller === null ? null : isFirst ? 'first' : 'returning';
    case 'lag_minutes':
      return lag === null ? null : lag / 10;
    case 'talk_minutes':
      return talk === null ? null : talk / 10;
    case 'date_added':
      return time;
    case 'day':
      return time === null ? null : dateText(time);
    case 'week':
      return time === null ? null : dateText(time - weekdayAt(time) * day);
    case 'month':
      return time === null ? null : dateText(time).slice(0, 7);
    case 'weekday':
      return time === null ? null : (weekdays[weekdayAt(time)] ?? null);
    case 'hour':
      return time === null ? null : new Date(time).getUTCHours();
    default: {
      const value = record[name];
      return value === undefined || value === null ? null : (value as string);
    }
  }
}

/** A condition as tests write it down, with its string. */
export type Test =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Test[] }
  | { readonly kind: 'not'; readonly part: Test }
  | {
      readonly kind: 'compare';
      readonly field: string;
      readonly operator: string;
      readonly to: string | number;
    }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly (string | number)[] }
  | { readonly kind: 'like'; readonly field: string; readonly pattern: string; readonly ignoreCase: boolean }
  | { readonly kind: 'null'; readonly field: string }
  | { readonly kind: 'flag'; readonly field: string };

const literal = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;

/** The condition as somebody would write it. */
export function printTest(test: Test): string {
  switch (test.kind) {
    case 'and':
    case 'or':
      return `(${test.parts.map(printTest).join(` ${test.kind} `)})`;
    case 'not':
      return `NOT ${printTest(test.part)}`;
    case 'compare':
      return `${test.field} ${test.operator} ${literal(test.to)}`;
    case 'in':
      return `${test.field} IN (${test.values.map(literal).join(', ')})`;
    case 'like':
      return `${test.field} ${test.ignoreCase ? 'ILIKE' : 'LIKE'} ${literal(test.pattern)}`;
    case 'null':
      return `${test.field} IS NULL`;
    case 'flag':
      return test.field;
  }
}

/** Is the condition true of the record, false, or neither? */
export function holds(test: Test, facts: Facts): boolean | null {
  switch (test.kind) {
    case 'and': {
      const parts = test.parts.map((part) => holds(part, facts));
      return parts.includes(false) ? false : parts.includes(null) ? null : true;
    }
    case 'or': {
      const parts = test.parts.map((part) => holds(part, facts));
      return parts.includes(true) ? true : parts.includes(null) ? null : false;
    }
    case 'not': {
      const part = holds(test.part, facts);
      return part === null ? null : !part;
    }
    case 'null':
      return fieldOf(test.field, facts) === null;
    case 'flag':
      return fieldOf(test.field, facts) as boolean | null;
    case 'in': {
      const parts = test.values.map((to) => compare(facts, test.field, '=', to));
      return parts.includes(true) ? true : parts.includes(null) ? null : false;
    }
    case 'like': {
      const value = fieldOf(test.field, facts);
      return value === null ? null : like(test.pattern, test.ignoreCase).test(String(value));
    }
    case 'compare':
      return compare(facts, test.field, test.operator, test.to);
  }
}

export function like(pattern: string, ignoreCase: boolean): RegExp {
  const source = pattern.replace(/\\?[\s\S]/gu, (part) => {
    if (part === '%') return '[\\s\\S]*';
    if (part === '_') return '[\\s\\S]';
    return (part.length > 1 && part.startsWith('\\') ? part.slice(1) : part).replace(
      /[.*+?^${}()|[\]\\/]/g,
      '\\$&',
    );
  });
  return new RegExp(`^${source}$`, ignoreCase ? 'iu' : 'u');
}

function compare(facts: Facts, field: string, operator: string, to: string | number): boolean | null {
  const value = fieldOf(field, facts);
  if (value === null) return null;
  if (field === 'date_added') return compareTimes(Number(value), operator, String(to));
  const order =
    typeof value === 'number'
      ? value - Number(to)
      : Buffer.compare(Buffer.from(String(value)), Buffer.from(String(to)));
  return byOrder(order, operator);
}

function compareTimes(value: number, operator: string, to: string): boolean {
  const time = parseTime(to);
  if (time === null) throw new Error(`${to} is not a time.`);
  if (!time.isWholeDay) return byOrder(value - time.millis, operator);
  return byOrder(Math.floor(value / day) - time.millis / day, operator);
}

function byOrder(order: number, operator: string): boolean {
  return {
    '=': order === 0,
    '<>': order !== 0,
    '<': order < 0,
    '<=': order <= 0,
    '>': order > 0,
    '>=': order >= 0,
  }[operator] as boolean;
}
