import { day, formatNaive } from '@call-attribution/core/time';
import {
  type Condition,
  fold,
  type Literal,
  latestTime,
  type Operator,
  type Term,
  type Test,
  valuesInOrder,
} from '@call-attribution/questions';
import { fn } from '../sql/functions.ts';
import { and, cast, isIn, isNull, literal, not, op, or, type Sql, value } from '../sql/tree.ts';

/** A field of a condition, and its expression. Never made from what a caller wrote. */
export interface SqlTerm {
  readonly term: Term;
  readonly sql: Sql;
}

/** Finds the fields of a condition. */
export type SqlTerms = (field: string) => SqlTerm;

/** A condition as SQL. Nothing that a caller wrote is in the text: names come from the vocabulary, values go beside it. */
export function conditionSql(condition: Condition, terms: SqlTerms): Sql {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const parts = condition.parts.map((part) => conditionSql(part, terms));
      return condition.kind === 'and' ? and(...parts) : or(...parts);
    }
    case 'not':
      return not(conditionSql(condition.part, terms));
    default:
      return testSql(condition, terms(condition.field));
  }
}

function testSql(test: Test, { term, sql }: SqlTerm): Sql {
  switch (test.kind) {
    case 'flag':
      return sql;
    case 'null':
      return isNull(sql);
    case 'like':
      return fn.like(fn.lower(sql), value(fold(test.pattern)));
    case 'in': {
      if (term.type === 'time') return or(...test.values.map((each) => compare({ term, sql }, '=', each)));
      if (term.type === 'text' && test.exact !== true) {
        const texts = test.values.flatMap((each) => (each.type === 'text' ? [fold(each.text)] : []));
        return isIn(fn.lower(sql), texts.map(value));
      }
      return isIn(
        sql,
        test.values.map((each) => bind(term, each)),
      );
    }
    case 'compare':
      return compare({ term, sql }, test.operator, test.value);
  }
}

function compare({ term, sql }: SqlTerm, operator: Operator, to: Literal): Sql {
  const among = to.type === 'text' ? valuesInOrder(term, operator, to.text) : null;
  // Of a call without a value nothing can be said, of any other one that it is none of no values.
  if (among?.length === 0) return op('<>', sql, sql);
  if (among) return isIn(sql, among.map(value));
  if (to.type === 'time' && term.type === 'time' && to.isWholeDay) return wholeDay(sql, operator, to.millis);
  if (to.type === 'text' && (operator === '=' || operator === '<>'))
    return op(operator, fn.lower(sql), value(fold(to.text)));
  return op(operator === '==' ? '=' : operator, sql, bind(term, to));
}

/** A comparison of a time with a day: the day is all of it, so `<= '2026-11-20'` takes in its evening. */
function wholeDay(sql: Sql, operator: Operator, start: number): Sql {
  const from = timeSql(start);
  const next = start + day;
  const to = next > latestTime ? cast(literal('10000-01-01'), 'TIMESTAMP') : timeSql(next);
  switch (operator) {
    case '=':
    case '==':
      return and(op('>=', sql, from), op('<', sql, to));
    case '<>':
      return or(op('<', sql, from), op('>=', sql, to));
    case '<':
      return op('<', sql, from);
    case '<=':
      return op('<', sql, to);
    case '>':
      return op('>=', sql, to);
    case '>=':
      return op('>=', sql, from);
  }
}

/** A naive time in milliseconds. */
export function timeSql(millis: number): Sql {
  const fraction = ((millis % 1000) + 1000) % 1000;
  return cast(value(`${formatNaive(millis)}.${String(fraction).padStart(3, '0')}`), 'TIMESTAMP');
}

function bind(term: Term, to: Literal): Sql {
  switch (to.type) {
    case 'text':
      return value(to.text);
    case 'boolean':
      return value(to.value);
    case 'time':
      return term.type === 'time'
        ? timeSql(to.millis)
        : cast(value(formatNaive(to.millis).slice(0, 10)), 'DATE');
    case 'number':
      return cast(value(to.text), numberType(to.text, term));
  }
}

/** The narrowest type that holds the number exactly, so that the column is not widened for the comparison. */
function numberType(text: string, { number }: Term): string {
  if (number === 'float') return 'DOUBLE';
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  if (number === 'whole' && fraction === '') return 'BIGINT';
  return number === 'tenths' && whole.length <= 8 && fraction.length <= 1 ? 'DECIMAL(9,1)' : 'DECIMAL(28,9)';
}
