import { propertyOf } from '@call-attribution/core/errors';
import { nearest, parse, simplify } from '@call-attribution/query-dsl';
import { WarehouseError } from '../errors.ts';
import { checkCondition } from '../where/check.ts';
import type { Condition, Literal, Vocabulary } from '../where/condition.ts';
import { readCondition } from '../where/parse.ts';
import type { ConditionProblem } from '../where/problem.ts';
import { measureSpecs } from './measures.ts';
import type { Measure, MeasureName, Question } from './question.ts';
import type { QuestionField } from './vocabulary.ts';

const mostGroups = 4;

/** The groups of a question. Their names may be any that the vocabulary knows; the fields come under their own. */
export function readGroups(
  names: readonly string[],
  known: ReadonlyMap<string, QuestionField>,
): readonly QuestionField[] {
  if (names.length > mostGroups) {
    throw new WarehouseError(
      'invalid_question',
      `groupBy names ${names.length} groups: ${mostGroups} at most. Ask twice, or use \`where\`.`,
    );
  }
  const groups = names.map((name) => fieldOf(name, known, 'group by'));
  const twice = groups.find((group, i) => groups.indexOf(group) !== i);
  if (twice) throw new WarehouseError('invalid_question', `groupBy names ${twice.name} twice.`);
  return groups;
}

/** A field by a name that somebody wrote. */
function fieldOf(name: string, known: ReadonlyMap<string, QuestionField>, what: string): QuestionField {
  const field =
    typeof name === 'string'
      ? known.get(
          name
            .trim()
            .toLowerCase()
            .replace(/[\s-]+/g, '_'),
        )
      : undefined;
  if (field) return field;
  const meant = typeof name === 'string' ? nearest(name, [...known.keys()]) : undefined;
  throw new WarehouseError(
    'unknown_name',
    `There is no field ${JSON.stringify(name)} to ${what}. ${
      meant ? `Did you mean ${meant}?` : `Some that exist: ${[...known.keys()].slice(0, 10).join(', ')}.`
    }`,
  );
}

/** A measure of a question and the name of its column. */
export interface ReadMeasure {
  readonly column: string;
  readonly name: MeasureName | 'distinct';
  /** What `distinct` counts the values of. */
  readonly of?: QuestionField;
}

/** The measures of a question. */
export function readMeasures(
  measures: readonly Measure[],
  known: ReadonlyMap<string, QuestionField>,
): readonly ReadMeasure[] {
  if (measures.length === 0) {
    throw new WarehouseError('invalid_question', 'measures is empty: name at least one, such as calls.');
  }
  const read = measures.map((measure): ReadMeasure => {
    if (typeof measure === 'string' && Object.hasOwn(measureSpecs, measure))
      return { column: measure, name: measure };
    const distinct = distinctOf(measure);
    if (distinct !== undefined) {
      const of = fieldOf(distinct, known, 'count the values of');
      return { column: `distinct_${of.name}`, name: 'distinct', of };
    }
    const names = Object.keys(measureSpecs);
    const meant = typeof measure === 'string' ? nearest(measure, names) : undefined;
    throw new WarehouseError(
      'unknown_name',
      `There is no measure ${JSON.stringify(measure)}. ${meant ? `Did you mean ${meant}?` : `Measures: ${names.join(', ')}, distinct(field).`}`,
    );
  });
  const twice = read.find(({ column }, i) => read.findIndex((other) => other.column === column) !== i);
  if (twice) throw new WarehouseError('invalid_question', `measures names ${twice.column} twice.`);
  return read;
}

/** `distinct(field)` may also be written as a string. */
function distinctOf(measure: unknown): string | undefined {
  if (typeof measure === 'string') return /^distinct\(\s*([\w-]+)\s*\)$/i.exec(measure)?.[1];
  if (typeof measure !== 'object' || measure === null || !('distinct' in measure)) return undefined;
  return typeof measure.distinct === 'string' ? measure.distinct : undefined;
}

/** A condition with the warnings about it. `name` is the option it came from. */
export function readWhere(
  where: string | Condition,
  vocabulary: Vocabulary,
  name: string,
): { readonly condition: Condition; readonly warnings: readonly ConditionProblem[] } {
  if (typeof where === 'object') {
    checkCondition(where, vocabulary);
    return { condition: where, warnings: [] };
  }
  const result = readCondition(String(where), vocabulary);
  if (result.ok) return result;
  throw new InvalidCondition(name, result.problem);
}

/** A condition that cannot be read. */
export class InvalidCondition extends WarehouseError {
  /** Always `invalid_condition`. */
  declare readonly code: 'invalid_condition';
  /** What is wrong, where, and the corrected condition when there is one. */
  readonly problem: ConditionProblem;

  constructor(name: string, problem: ConditionProblem) {
    const { message, corrected, frame } = problem;
    super('invalid_condition', `${name}: ${message}`, {
      hint: corrected === undefined ? frame : `${frame}\nCorrected: ${corrected}`,
    });
    this.problem = problem;
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
    throw new WarehouseError('invalid_condition', `q: ${String(propertyOf(error, 'message'))}`, {
      ...(typeof frame === 'string' ? { hint: frame } : {}),
      cause: error,
    });
  }
}

function boundOf(text: string): Literal {
  if (text[4] !== '-') return { type: 'number', text };
  return { type: 'time', millis: Date.parse(`${text.replace(' ', 'T')}Z`), isWholeDay: false };
}

/** Columns to sort an answer by. */
export interface Order {
  readonly column: string;
  readonly descending: boolean;
}

/** Reads `order`, such as `calls desc, ppc_campaign`. `columns` belong to `what`. */
export function readOrder(order: string, columns: readonly string[], what = 'the answer'): Order[] {
  return order.split(',').map((part) => {
    const [, name = '', direction] = /^\s*(-?[\w()-]+?)(?:\s+(asc|desc))?\s*$/i.exec(part) ?? [];
    const column = name.replace(/^-/, '');
    if (columns.includes(column))
      return { column, descending: name.startsWith('-') || /desc/i.test(direction ?? '') };
    const meant = nearest(column, columns);
    throw new WarehouseError(
      'unknown_name',
      `order: ${what} has no column ${JSON.stringify(column || part.trim())}. ${meant ? `Did you mean ${meant}?` : `Its columns: ${columns.slice(0, 20).join(', ')}.`}`,
    );
  });
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
  throw new WarehouseError(
    'invalid_question',
    `${name} is ${JSON.stringify(value)}: expected a whole number from ${least} to ${most.toLocaleString('en')}.`,
  );
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `InvalidCondition` of warehouse. */
    InvalidCondition: InvalidCondition;
  }
}
