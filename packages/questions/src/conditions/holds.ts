import { day } from '@call-attribution/core/time';
import type { Condition, Literal, Operator, Term, Test, Vocabulary } from './condition.ts';
import { compareText, fold, likePattern } from './fold.ts';

/** A value of a field: a time or the start of a day, week or month in milliseconds. Null when the call has none. */
export type Value = string | number | boolean | null;

/** Is it true of something? Null when that cannot be said, for example because there is no value. */
export type Judge<T> = (of: T) => boolean | null;

/** How the values of a field are read. Undefined when it cannot be known: neither is then whether they are null. */
export type ReaderOf<T> = (field: string, test: Test) => (of: T) => Value | undefined;

/** A condition as a function. */
export function compileCondition<T>(
  condition: Condition,
  vocabulary: Vocabulary,
  readerOf: ReaderOf<T>,
): Judge<T> {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const decides = condition.kind === 'or';
      const parts = condition.parts.map((part) => compileCondition(part, vocabulary, readerOf));
      return (of) => {
        let result: boolean | null = !decides;
        for (const part of parts) {
          const holds = part(of);
          if (holds === decides) return decides;
          if (holds === null) result = null;
        }
        return result;
      };
    }
    case 'not': {
      const part = compileCondition(condition.part, vocabulary, readerOf);
      return (of) => {
        const holds = part(of);
        return holds === null ? null : !holds;
      };
    }
    default: {
      const term = vocabulary.get(condition.field);
      const read = readerOf(condition.field, condition);
      if (condition.kind === 'null') {
        return (of) => {
          const value = read(of);
          return value === undefined ? null : value === null;
        };
      }
      const holds = testOf(condition, term);
      return (of) => {
        const value = read(of);
        return value === null || value === undefined ? null : holds(value);
      };
    }
  }
}

type Plain = Exclude<Value, null>;

function testOf(test: Exclude<Test, { kind: 'null' }>, term: Term | undefined): (value: Plain) => boolean {
  switch (test.kind) {
    case 'flag':
      return (value) => value === true;
    case 'like': {
      const pattern = likePattern(test.pattern);
      return (value) => pattern.test(fold(String(value)));
    }
    case 'in': {
      if (term?.type === 'text') {
        const exact = test.exact === true;
        const texts = test.values.flatMap((value) => (value.type === 'text' ? [value.text] : []));
        const known = new Set(exact ? texts : texts.map(fold));
        return (value) => known.has(exact ? String(value) : fold(String(value)));
      }
      const parts = test.values.map((value) => comparison('=', value, term));
      return (value) => parts.some((part) => part(value));
    }
    case 'compare':
      return comparison(test.operator, test.value, term);
  }
}

function comparison(operator: Operator, literal: Literal, term: Term | undefined): (value: Plain) => boolean {
  switch (literal.type) {
    case 'text': {
      const { text } = literal;
      const among = term && valuesInOrder(term, operator, text);
      if (among) return (value) => among.includes(String(value));
      if (operator === '==') return (value) => value === text;
      if (operator === '=' || operator === '<>') {
        const folded = fold(text);
        return (value) => (fold(String(value)) === folded) === (operator === '=');
      }
      return (value) => byOrder(compareText(String(value), text), operator);
    }
    case 'boolean':
      return (value) => (value === literal.value) === (operator !== '<>');
    case 'number': {
      const number = Number(literal.text);
      return (value) => byOrder(Number(value) - number, operator);
    }
    case 'time': {
      const { millis, isWholeDay } = literal;
      if (isWholeDay && term?.type === 'time') {
        const start = millis / day;
        return (value) => byOrder(Math.floor(Number(value) / day) - start, operator);
      }
      return (value) => byOrder(Number(value) - millis, operator);
    }
  }
}

/** Values of which a comparison is true, where they have an order of their own. Null where texts compare as any others. */
export function valuesInOrder(
  { isOrdered, values = [] }: Term,
  operator: Operator,
  text: string,
): readonly string[] | null {
  const at = values.findIndex((each) => fold(each) === fold(text));
  if (!isOrdered || at < 0 || ['=', '==', '<>'].includes(operator)) return null;
  return values.filter((_, i) => byOrder(i - at, operator));
}

function byOrder(order: number, operator: Operator): boolean {
  switch (operator) {
    case '=':
    case '==':
      return order === 0;
    case '<>':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}
