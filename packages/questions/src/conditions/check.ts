import { nearest } from '@call-attribution/query-dsl';
import { QuestionError } from '../errors.ts';
import {
  type Condition,
  hasStrayBackslash,
  type Literal,
  latestTime,
  type Term,
  type Test,
  type Vocabulary,
} from './condition.ts';
import { explain } from './problem.ts';

const operators: ReadonlySet<unknown> = new Set(['=', '==', '<>', '<', '<=', '>', '>=']);
const mostNested = 100;
const earliestTime = Date.parse('0000-01-01T00:00:00Z');
const decimal = /^-?\d{1,15}(?:\.\d{1,9})?$/;

/**
 * Checks a condition that came as data, which may have come from anywhere: its fields exist, its operators are operators,
 * and its values are of the type of their field. Returns it as if it had been read: with the own names of fields, and nothing else.
 */
export function checkCondition(condition: unknown, vocabulary: Vocabulary, depth = 0): Condition {
  if (depth > mostNested) throw invalid(`A condition may have at most ${mostNested} nested conditions.`);
  const test = (condition ?? {}) as Condition;
  const { kind } = test;
  if (kind === 'and' || kind === 'or') {
    const { parts } = test as { parts: unknown };
    if (!Array.isArray(parts))
      throw invalid(`A condition of kind ${kind} needs \`parts\`, a list of conditions.`);
    return { kind, parts: parts.map((part) => checkCondition(part, vocabulary, depth + 1)) };
  }
  if (kind === 'not')
    return { kind, part: checkCondition((test as { part: unknown }).part, vocabulary, depth + 1) };
  return checkTest(test, vocabulary);
}

function checkTest(test: Condition, vocabulary: Vocabulary): Condition {
  if (!['compare', 'in', 'like', 'null', 'flag'].includes(test.kind))
    throw invalid(`A condition has the kind ${shown(test.kind)}, which does not exist.`);
  const { field } = test as { field: string };
  const term = vocabulary.get(field);
  if (term === undefined) {
    const meant = typeof field === 'string' ? nearest(field, [...vocabulary.keys()]) : undefined;
    throw new QuestionError(
      'unknown_name',
      `A condition names the field ${shown(field)}, which does not exist.${meant ? ` Did you mean ${meant}?` : ''}`,
    );
  }
  if (test.kind === 'flag' && term.type !== 'boolean')
    throw invalid(`${field} is not true or false by itself.`);
  if (test.kind === 'like' && (term.type !== 'text' || typeof test.pattern !== 'string'))
    throw invalid(`${field} cannot be compared with a pattern.`);
  if (test.kind === 'like' && hasStrayBackslash(test.pattern))
    throw invalid(`${field}: ${explain({ code: 'escape' }, test.pattern)}`);
  if (test.kind === 'in' && !['boolean', 'undefined'].includes(typeof test.exact))
    throw invalid(`\`exact\` of a list of values for ${field} is not true or false.`);
  if (test.kind === 'compare' && !operators.has(test.operator))
    throw invalid(`${shown(test.operator)} is not an operator.`);
  let values: readonly unknown[] = [];
  if (test.kind === 'compare') values = [test.value];
  if (test.kind === 'in' && Array.isArray(test.values)) values = test.values;
  if (test.kind === 'in' && values.length === 0) throw invalid(`A list of values for ${field} is empty.`);
  if (!values.every((value) => fits(value as Literal, term)))
    throw invalid(`A value for ${field} is of another type.`);
  return named(test as Test, term.name);
}

/** The test of a field by its own name, each key in its place. */
function named(test: Test, field: string): Condition {
  const { kind } = test;
  switch (kind) {
    case 'compare':
      return { kind, field, operator: test.operator, value: plain(test.value) };
    case 'in':
      return { kind, field, values: test.values.map(plain), ...(test.exact ? { exact: true } : {}) };
    case 'like':
      return { kind, field, pattern: test.pattern };
    default:
      return { kind, field };
  }
}

function plain(value: Literal): Literal {
  const { type } = value;
  switch (type) {
    case 'boolean':
      return { type, value: value.value };
    case 'time':
      return { type, millis: value.millis, isWholeDay: value.isWholeDay === true };
    default:
      return { type, text: value.text };
  }
}

function fits(value: Literal, { type }: Term): boolean {
  switch (value?.type) {
    case 'text':
      return type === 'text' && typeof value.text === 'string';
    case 'number':
      return type === 'number' && typeof value.text === 'string' && decimal.test(value.text);
    case 'boolean':
      return type === 'boolean' && typeof value.value === 'boolean';
    case 'time':
      return ['time', 'day', 'week', 'month'].includes(type) && isTime(value.millis);
    default:
      return false;
  }
}

const isTime = (millis: number): boolean =>
  Number.isInteger(millis) && millis >= earliestTime && millis <= latestTime;

/** What came where a name should be. */
const shown = (value: unknown): string =>
  typeof value === 'string' || value === null ? JSON.stringify(value) : typeof value;

const invalid = (message: string): QuestionError => new QuestionError('invalid_condition', message);
