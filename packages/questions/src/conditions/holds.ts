import {
  anyCharacter,
  anyText,
  compilePattern,
  type PatternPart,
  phoneKey,
} from '@call-attribution/core/record';
import { day } from '@call-attribution/core/time';
import type { Condition, Literal, Operator, Term, Test, Value, Vocabulary } from './condition.ts';
import { compareValues, fold, judgedField } from './condition.ts';
import { truthAt } from './judged.ts';

type Plain = Exclude<Value, null>;

/**
 * Is it true of something? Null when that cannot be said, for example because there is no value.
 */
export type Judge<T> = (of: T) => boolean | null;

/**
 * How the values of a field are read. Undefined when it cannot be known: neither is then whether
 * they are null. Of several names of one thing, a condition may use any.
 */
export type ReaderOf<T> = (field: string) => (of: T) => Value | readonly string[] | undefined;

/** A condition as a function. */
export function compileCondition<T>(
  condition: Condition,
  vocabulary: Vocabulary,
  readerOf: ReaderOf<T>,
): Judge<T> {
  if ('parts' in condition) {
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

  if (condition.kind === 'not') {
    const part = compileCondition(condition.part, vocabulary, readerOf);
    return (of) => {
      const holds = part(of);
      return holds === null ? null : !holds;
    };
  }

  const read = readerOf(condition.field);
  if (condition.kind === 'judged') {
    const shown = compileCondition<T>(condition.test, vocabulary, readerOf);
    const truths = readerOf(judgedField);
    return (of) => {
      const truth = truthAt(truths(of), condition.at);
      return truth === undefined ? shown(of) : truth;
    };
  }

  if (condition.kind === 'null') {
    return (of) => {
      const value = read(of);
      return value === undefined ? null : value === null;
    };
  }

  const holds = testOf(condition, vocabulary.get(condition.field));
  const isNot = condition.kind === 'compare' && condition.operator === '<>';
  return (of) => {
    const value = read(of);
    if (value === null || value === undefined) return null;
    if (typeof value !== 'object') return holds(value);
    return isNot ? value.every(holds) : value.some(holds);
  };
}

function testOf(
  test: Exclude<Test, { kind: 'null' }>,
  term: Term | undefined,
): (value: Plain) => boolean {
  if (test.kind === 'flag') return (value) => value === true;
  if (test.kind === 'like') {
    const matches = compilePattern(likeParts(test.pattern));
    return (value) => matches(fold(String(value)));
  }

  if (test.kind === 'compare') return comparison(test.operator, test.value, term);
  if (term?.type !== 'text') {
    const parts = test.values.map((value) => comparison('=', value, term));
    return (value) => parts.some((part) => part(value));
  }

  const same = sameness(term);
  const known = new Set(test.values.map((value) => ('text' in value ? same(value.text) : '')));
  return (value) => known.has(same(String(value)));
}

/** A text as it is compared: without its case; a phone number without its spelling. */
const sameness = (term: Term | undefined): ((text: string) => string) =>
  term?.isPhone ? (text) => fold(phoneKey(text)) : fold;

function comparison(
  operator: Operator,
  literal: Literal,
  term: Term | undefined,
): (value: Plain) => boolean {
  if (literal.type === 'boolean')
    return (value) => (value === literal.value) === (operator !== '<>');
  const meets = orders[operator];
  if (literal.type === 'number') {
    const number = Number(literal.text);
    return (value) => meets(Number(value) - number);
  }

  if (literal.type === 'time') {
    const { millis, isWholeDay } = literal;
    // A day means all of it.
    if (!isWholeDay || term?.type !== 'time') return (value) => meets(Number(value) - millis);
    return (value) => meets(Math.floor(Number(value) / day) - millis / day);
  }

  const { text } = literal;
  const { isOrdered = false, values = [] } = term ?? {};
  const placeOf = (wanted: string): number =>
    values.findIndex((each) => fold(each) === fold(wanted));
  if (operator === '==') return (value) => value === text;
  const same = sameness(term);
  const wanted = same(text);
  if (operator === '=' || operator === '<>')
    return (value) => (same(String(value)) === wanted) === (operator === '=');

  // Values with an order of their own.
  if (isOrdered) return (value) => meets(placeOf(String(value)) - placeOf(text));
  return (value) => meets(compareValues(String(value), text));
}

/** Whether an order, below, at or above 0, meets an operator. */
const orders: Readonly<Record<Operator, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '==': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/** The pattern of a LIKE, for folded texts. */
function likeParts(pattern: string): PatternPart[] {
  const parts: PatternPart[] = [];
  let text = '';
  for (const [part] of fold(pattern).matchAll(/\\?[\s\S]/gu)) {
    if (part !== '%' && part !== '_') {
      text += part.length > 1 && part.startsWith('\\') ? part.slice(1) : part;
      continue;
    }
    parts.push(text, part === '%' ? anyText : anyCharacter);
    text = '';
  }

  return [...parts, text];
}
