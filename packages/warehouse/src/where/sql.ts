import { day, formatNaive } from '@call-attribution/core/time';
import {
  type Condition,
  fold,
  type Literal,
  latestTime,
  type Operator,
  type Term,
  type Test,
} from '@call-attribution/questions';
import type { SqlValue } from '../file/session.ts';

/** Collects the values of placeholders. */
export class Parameters {
  readonly values: SqlValue[] = [];

  /** The placeholder of a value. */
  put(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** A field of a condition, and its expression. Never made from what a caller wrote. */
export interface SqlTerm {
  readonly term: Term;
  readonly sql: string;
}

/** Finds the fields of a condition. */
export type SqlTerms = (field: string) => SqlTerm;

/** A condition as SQL. Nothing that a caller wrote is in the text: names come from the vocabulary, values are parameters. */
export function printCondition(condition: Condition, terms: SqlTerms, parameters: Parameters): string {
  const print = (part: Condition): string => printCondition(part, terms, parameters);
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.parts.length === 0
        ? String(condition.kind === 'and')
        : `(${condition.parts.map(print).join(condition.kind === 'and' ? ' AND ' : ' OR ')})`;
    case 'not':
      return `(NOT ${print(condition.part)})`;
    default:
      return printTest(condition, terms(condition.field), parameters);
  }
}

function printTest(test: Test, { term, sql }: SqlTerm, parameters: Parameters): string {
  switch (test.kind) {
    case 'flag':
      return sql;
    case 'null':
      return `(${sql} IS NULL)`;
    case 'like':
      return `(lower(${sql}) LIKE ${parameters.put(fold(test.pattern))} ESCAPE '\\')`;
    case 'in': {
      if (term.type === 'time')
        return `(${test.values.map((value) => compare({ term, sql }, '=', value, parameters)).join(' OR ')})`;
      if (term.type === 'text' && test.exact !== true) {
        const texts = test.values.flatMap((value) => (value.type === 'text' ? [fold(value.text)] : []));
        return `(lower(${sql}) IN (${texts.map((text) => parameters.put(text)).join(', ')}))`;
      }
      return `(${sql} IN (${test.values.map((value) => bind(term, value, parameters)).join(', ')}))`;
    }
    case 'compare':
      return compare({ term, sql }, test.operator, test.value, parameters);
  }
}

function compare({ term, sql }: SqlTerm, operator: Operator, value: Literal, parameters: Parameters): string {
  if (value.type === 'time' && term.type === 'time' && value.isWholeDay)
    return wholeDay(sql, operator, value.millis, parameters);
  if (value.type === 'text' && (operator === '=' || operator === '<>'))
    return `(lower(${sql}) ${operator} ${parameters.put(fold(value.text))})`;
  return `(${sql} ${operator === '==' ? '=' : operator} ${bind(term, value, parameters)})`;
}

/** A comparison of a time with a day: the day is all of it, so `<= '2026-11-20'` takes in its evening. */
function wholeDay(sql: string, operator: Operator, start: number, parameters: Parameters): string {
  const from = () => time(start, parameters);
  const next = start + day;
  const to = () => (next > latestTime ? "TIMESTAMP '10000-01-01'" : time(next, parameters));
  switch (operator) {
    case '=':
    case '==':
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
