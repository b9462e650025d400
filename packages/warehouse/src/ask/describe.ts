import { type ConditionResult, readCondition } from '../where/parse.ts';
import { measureSpecs } from './measures.ts';
import type { AnswerColumn, MeasureName } from './question.ts';
import { type QuestionField, questionFields } from './vocabulary.ts';

/** A field that questions and conditions can name. */
export interface FieldDescription {
  /** The name that conditions, groups and `distinct` take. */
  readonly name: string;
  /** Other names that it goes by. */
  readonly otherNames: readonly string[];
  /** How values of the field compare. */
  readonly type: 'text' | 'number' | 'time' | 'day' | 'week' | 'month' | 'boolean';
  /** What the field says. */
  readonly meaning: string;
  /** Says who the caller is or how to reach them. */
  readonly personal: boolean;
  /** All values it can have, or the usual ones. */
  readonly values: readonly string[] | null;
}

/** A measure that questions can ask for. */
export interface MeasureDescription {
  /** The name that `measures`, `having` and `order` take. */
  readonly name: MeasureName;
  /** What its values count or measure. */
  readonly unit: AnswerColumn['unit'];
  /** What the measure says. */
  readonly meaning: string;
}

const fields = questionFields();

/** All fields that questions and conditions can name, those of the API first. */
export function describeFields(): FieldDescription[] {
  const byField = new Map<QuestionField, string[]>();
  for (const [name, field] of fields) byField.set(field, [...(byField.get(field) ?? []), name]);
  return [...byField].map(([{ name, type, meaning, personal, values, usualValues }, names]) => ({
    name,
    otherNames: names.filter((other) => other !== name),
    type,
    meaning,
    personal,
    values: values ?? usualValues ?? null,
  }));
}

/** All measures that questions can ask for. */
export function describeMeasures(): MeasureDescription[] {
  return Object.entries(measureSpecs).map(([name, { unit, meaning }]) => ({
    name: name as MeasureName,
    unit,
    meaning,
  }));
}

/**
 * Reads a condition without asking anything: for editors, and for programs that change a condition before they pass it on.
 *
 * @example
 * const result = parseCondition("talk_minutes >= 2 AND state IN ('TX', 'CA')");
 * if (!result.ok) console.log(result.problem.message, result.problem.corrected);
 */
export function parseCondition(text: string): ConditionResult {
  return readCondition(text, fields);
}
