import { day, formatNaive } from '@call-attribution/core/time';
import { WarehouseError } from '../errors.ts';
import type { SqlValue } from '../file/session.ts';
import {
  type Condition,
  type Literal,
  latestTime,
  type Operator,
  type Term,
  type Vocabulary,
} from './condition.ts';

/** Collects the values of placeholders. */
export class Parameters {
  readonly values: SqlValue[] = [];

  /** The placeholder of a value. */
  put(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** A condition as SQL. Nothing that a caller wrote is in the text: names come from the vocabulary, values are parameters. */
export function printCondition(condition: Condition, vocabulary: Vocabulary, parameters: Parameters): string {
  const print = (part: Condition): string => printCondition(part, vocabulary, parameters);
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.parts.length === 0
        ? String(condition.kind === 'and')
        : `(${condition.parts.map(print).join(condition.kind === 'and' ? ' AND ' : ' OR ')})`;
    case 'not':
      return `(NOT ${print(condition.part)})`;
    default:
      return printTest(condition, termOf(condition.field, vocabulary), parameters);
  }
}

function termOf(field: string, vocabulary: Vocabulary): Term {
  const term = vocabulary.get(field);
  // Conditions are checked before they are printed.
  if (term === undefined) throw new WarehouseError('unknown_name', `There is no field ${field}.`);
  return term;
}

type Test = Exclude<Condition, { kind: 'and' | 'or' | 'not' }>;

function printTest(test: Test, term: Term, parameters: Parameters): string {
  const { sql } = term;
  switch (test.kind) {
    case 'flag':
      return sql;
    case 'null':
      return `(${sql} IS NULL)`;
    case 'like':
      return `(${sql} ${test.ignoreCase ? 'ILIKE' : 'LIKE'} ${parameters.put(test.pattern)} ESCAPE '\\')`;
    case 'in': {
      if (term.type === 'time')
        return `(${test.values.map((value) => compare(term, '=', value, parameters)).join(' OR ')})`;
      return `(${sql} IN (${test.values.map((value) => bind(term, value, parameters)).join(', ')}))`;
    }
    case 'compare':
      return compare(term, test.operator, test.value, parameters);
  }
}

function compare(term: Term, operator: Operator, value: Literal, parameters: Parameters): string {
  if (value.type === 'time' && term.type === 'time' && value.isWholeDay)
    return wholeDay(term.sql, operator, value.millis, parameters);
  return `(${term.sql} ${operator} ${bind(term, value, parameters)})`;
}

/** A comparison of a time with a day: the day is all of it, so `<= '2026-11-20'` takes in its evening. */
function wholeDay(sql: string, operator: Operator, start: number, parameters: Parameters): string {
  const from = () => time(start, parameters);
  const next = start + day;
  const to = () => (next > latestTime ? "TIMESTAMP '10000-01-01'" : time(next, parameters));
  switch (operator) {
    case '=':
      return `(${sql} >= ${from()} AND ${sql} < ${to()})`;
    case '<>':
      return `(${sql} < ${from()} OR ${sql} >= ${to()})`;
    case '<':
      return `(${sql} < ${from()})`;
    case '<=':
      return `(${sql} < ${to()})`;
    case '>':
      return `(${sql} >= ${to()})`;
    case '>=':
      return `(${sql} >= ${from()})`;
  }
}

/** A naive time in milliseconds as a parameter. */
export function time(millis: number, parameters: Parameters): string {
  const fraction = ((millis % 1000) + 1000) % 1000;
  return `${parameters.put(`${formatNaive(millis)}.${String(fraction).padStart(3, '0')}`)}::TIMESTAMP`;
}

function bind(term: Term, value: Literal, parameters: Parameters): string {
  switch (value.type) {
    case 'text':
      return parameters.put(value.text);
    case 'boolean':
      return parameters.put(value.value);
    case 'time':
      return term.type === 'time'
        ? time(value.millis, parameters)
        : `${parameters.put(formatNaive(value.millis).slice(0, 10))}::DATE`;
    case 'number':
      return `${parameters.put(value.text)}::${numberType(value.text, term)}`;
  }
}

/** The narrowest type that holds the number exactly, so that the column is not widened for the comparison. */
function numberType(text: string, { number }: Term): string {
  if (number === 'float') return 'DOUBLE';
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  if (number === 'whole' && fraction === '') return 'BIGINT';
  return number === 'tenths' && whole.length <= 8 && fraction.length <= 1 ? 'DECIMAL(9,1)' : 'DECIMAL(28,9)';
}
