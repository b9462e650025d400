import { propertyOf } from '@call-attribution/core/errors';
import { hour, minute } from '@call-attribution/core/time';
import { nearest, parse, simplify } from '@call-attribution/query-dsl';
import { type Condition, type Literal, printCondition, type Vocabulary } from '../conditions/condition.ts';
import { ambiguousNames, nameOf, wordList } from '../conditions/names.ts';
import { type ConditionProblem, readCondition } from '../conditions/parse.ts';
import { option, QuestionError, sentence } from '../errors.ts';
import type { ReadField } from '../fields/derived.ts';
import {
  type Argument,
  measures as allMeasures,
  findMeasure,
  type Measure,
  measureForms,
} from './measures.ts';
import type { Question } from './question.ts';

const mostGroups = 4;

/** The groups of a question. Their names may be any that the vocabulary knows; the fields come under their own. */
export function readGroups(
  names: readonly string[],
  known: ReadonlyMap<string, ReadField>,
): readonly ReadField[] {
  if (names.length > mostGroups) {
    throw new QuestionError(
      'invalid_question',
      sentence`${option('groupBy')} names ${names.length} groups: ${mostGroups} at most. Ask twice, or use ${option('where')}.`,
    );
  }
  const groups = names.map((name) => readField(name, known, 'group by'));
  const twice = groups.find((group, i) => groups.indexOf(group) !== i);
  if (twice)
    throw new QuestionError('invalid_question', sentence`${option('groupBy')} names ${twice.name} twice.`);
  return groups;
}

/** A field by a name that somebody wrote. */
function readField(written: string, known: ReadonlyMap<string, ReadField>, what: string): ReadField {
  const name = typeof written === 'string' ? nameOf(written) : '';
  const meanings = ambiguousNames.get(name);
  if (meanings !== undefined) {
    throw new QuestionError(
      'unknown_name',
      `${JSON.stringify(written)} to ${what} may mean ${wordList(meanings)}. Name one of them.`,
    );
  }
  const field = known.get(name);
  if (field) return field;
  const meant = nearest(name, [...known.keys()]);
  throw new QuestionError(
    'unknown_name',
    `There is no field ${JSON.stringify(written)} to ${what}. ${
      meant ? `Did you mean ${meant}?` : `Some that exist: ${[...known.keys()].slice(0, 10).join(', ')}.`
    }`,
  );
}

/** A measure of a question, with what stands in its brackets and the name of its column. */
export interface ReadMeasure {
  readonly column: string;
  readonly measure: Measure;
  readonly argument: Argument;
}

/** The measures of a question. */
export function readMeasures(
  texts: readonly string[],
  known: ReadonlyMap<string, ReadField>,
): readonly ReadMeasure[] {
  if (texts.length === 0)
    throw new QuestionError(
      'invalid_question',
      sentence`${option('measures')} is empty: name at least one, such as calls.`,
    );
  const read = texts.map((text) => {
    const [, body = text, given] = /^(.*\S)\s+as\s+([a-z_]\w*)\s*$/is.exec(text) ?? [];
    const column = given?.toLowerCase();
    // Rows are objects: a column of this name would be lost, or found where there is none.
    if (column !== undefined && column in {})
      throw new QuestionError(
        'invalid_question',
        `A column cannot be called ${column}: every object in JavaScript has it. Choose another name.`,
      );
    const measure = readMeasure(body.trim(), known);
    return column === undefined ? measure : { ...measure, column };
  });
  const twice = read.find(({ column }, i) => read.findIndex((other) => other.column === column) !== i);
  if (twice)
    throw new QuestionError('invalid_question', sentence`${option('measures')} names ${twice.column} twice.`);
  return read;
}

/** A measure, which may be one of a field, a condition or a number of hours. */
function readMeasure(text: string, known: ReadonlyMap<string, ReadField>): ReadMeasure {
  const [, called = nameOf(text), inside] = /^([a-z_]\w*)\s*\(\s*(.*?)\s*\)$/is.exec(text) ?? [];
  const measure = findMeasure(called.toLowerCase(), inside !== undefined);
  if (measure === undefined) {
    const meant = nearest(called, [...new Set(allMeasures.map(({ name }) => name))]);
    throw new QuestionError(
      'unknown_name',
      `There is no measure ${JSON.stringify(text)}. ${meant ? `Did you mean ${meant}?` : `Measures: ${measureForms.join(', ')}.`}`,
    );
  }
  const { name } = measure;
  const none = { text: '', field: '', scale: 1, condition: { kind: 'and', parts: [] }, hours: 0 } as const;
  const refuse = (what: string) => new QuestionError('invalid_question', `${text}: ${what}`);
  switch (measure.argument) {
    case undefined:
      return { column: name, measure, argument: none };
    case 'condition': {
      const condition = readWhere(inside ?? '', known, text);
      return { column: text, measure, argument: { ...none, text: inside ?? '', condition } };
    }
    case 'hours': {
      if (!/^\d{1,5}(?:\.\d{1,3})?$/.test(inside ?? ''))
        throw refuse(`expected a number of hours, such as ${name}(24).`);
      const argument = { ...none, text: inside ?? '', hours: Number(inside) };
      return { column: `${name}_${inside}`, measure, argument };
    }
    default: {
      const field = readField(inside ?? '', known, 'measure');
      if (measure.argument === 'number' && !isQuantity(field)) {
        const numbers = [...new Set(known.values())].filter(isQuantity).map((each) => each.name);
        throw refuse(`${field.name} is not a number to measure. Numbers: ${numbers.join(', ')}.`);
      }
      const argument = { ...none, text: field.name, field: field.name, scale: scaleOf(field) };
      return { column: `${name}_${field.name}`, measure, argument };
    }
  }
}

/** Is a field a number, and no id? */
const isQuantity = ({ name, type }: ReadField): boolean => type === 'number' && !name.endsWith('_id');

/** How many steps of a number field make 1: minutes and hours that are no whole tenths come from milliseconds. */
function scaleOf({ name, number }: ReadField): number {
  if (number === 'float') return name.endsWith('_minutes') ? minute : hour;
  return number === 'tenths' ? 10 : 1;
}

/** A condition. `name` is the option it came from. */
export function readWhere(where: string | Condition, vocabulary: Vocabulary, name: string): Condition {
  const result = readCondition(String(typeof where === 'object' ? printCondition(where) : where), vocabulary);
  if (result.ok) return result.condition;
  throw new InvalidCondition(name, result.problem);
}

/** A condition that cannot be read. */
export class InvalidCondition extends QuestionError {
  /** Always `invalid_condition`. */
  declare readonly code: 'invalid_condition';
  /** What is wrong, where, and the corrected condition when there is one. */
  readonly problem: ConditionProblem;
  /** The option that has it, such as `where`, or `count(` and so on for a measure. */
  readonly argument: string;

  constructor(argument: string, problem: ConditionProblem) {
    const { message, corrected, frame } = problem;
    super('invalid_condition', sentence`${option(argument)}: ${message}`, {
      hint: corrected === undefined ? frame : `${frame}\nCorrected: ${corrected}`,
    });
    this.problem = problem;
    this.argument = argument;
  }
}

/** A filter of the API as a condition, and whether it includes calls through call extensions. */
export function readFilter(q: string): { readonly condition: Condition; readonly extensions: boolean } {
  const { clauses } = simplify(parseFilter(q));
  const parts = clauses.flatMap((clause): Condition[] => {
    if (clause.kind === 'flag') return [];
    const { field, lower, upper } = clause;
    const test = (bound: NonNullable<typeof lower>, operator: '>' | '<'): Condition => ({
      kind: 'compare',
      field,
      operator: bound.inclusive ? `${operator}=` : operator,
      value: boundOf(bound.text),
    });
    if (!lower && !upper) return [{ kind: 'not', part: { kind: 'null', field } }];
    return [...(lower ? [test(lower, '>')] : []), ...(upper ? [test(upper, '<')] : [])];
  });
  return { condition: { kind: 'and', parts }, extensions: clauses.some(({ kind }) => kind === 'flag') };
}

function parseFilter(q: string): ReturnType<typeof parse> {
  try {
    return parse(q, { version: 'v3' });
  } catch (error) {
    const frame = propertyOf(error, 'frame');
    throw new QuestionError(
      'invalid_condition',
      sentence`${option('q')}: ${String(propertyOf(error, 'message'))}`,
      {
        ...(typeof frame === 'string' ? { hint: frame } : {}),
        cause: error,
      },
    );
  }
}

function boundOf(text: string): Literal {
  if (text[4] !== '-') return { type: 'number', text };
  return { type: 'time', millis: Date.parse(`${text.replace(' ', 'T')}Z`), isWholeDay: false };
}

/** Columns to sort an answer by. */
export interface Order {
  /** The column of the answer. */
  readonly column: string;
  /** Begins with the largest. */
  readonly descending: boolean;
}

/** Reads `order`, such as `calls desc, ppc_campaign`. `columns` belong to `what`; `known` are other names for some of them. */
export function readOrder(
  order: string,
  columns: readonly string[],
  what = 'the answer',
  known: ReadonlyMap<string, string> = new Map(),
): Order[] {
  return splitList(order).map((part) => {
    const [, name = '', direction] = /^\s*(-?.*?\S)(?:\s+(asc|desc))?\s*$/is.exec(part) ?? [];
    const written = name.replace(/^-/, '');
    const column = [written, nameOf(written), known.get(nameOf(written)) ?? ''].find((each) =>
      columns.includes(each),
    );
    if (column !== undefined)
      return { column, descending: name.startsWith('-') || /desc/i.test(direction ?? '') };
    const meant = nearest(written, columns);
    throw new QuestionError(
      'unknown_name',
      sentence`${option('order')}: ${what} has no column ${JSON.stringify(written || part.trim())}. ${meant ? `Did you mean ${meant}?` : `Its columns: ${columns.slice(0, 20).join(', ')}.`}`,
    );
  });
}

/** The parts of a list between commas that are in no brackets and no string. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let [depth, start, isText] = [0, 0, false];
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i];
    if (character === "'") isText = !isText;
    if (isText) continue;
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character !== ',' || depth > 0) continue;
    parts.push(text.slice(start, i));
    start = i + 1;
  }
  return [...parts, text.slice(start)];
}

/** A whole number of an option, from `least` up. */
export function readCount(
  name: keyof Question,
  value: number | undefined,
  least: number,
  most: number,
): number | null {
  if (value === undefined) return null;
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new QuestionError(
    'invalid_question',
    sentence`${option(name)} is ${JSON.stringify(value)}: expected a whole number from ${least} to ${most.toLocaleString('en')}.`,
  );
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `InvalidCondition` of questions. */
    InvalidCondition: InvalidCondition;
  }
}
