import type { FieldSpec } from '@call-attribution/core';
import { fields } from '@call-attribution/core/record';
import { type ConditionResult, readCondition } from '../conditions/parse.ts';
import { derived, type QuestionField, type ReadField } from './derived.ts';
import { integerOf, tenthsOf, textOf, timeOf } from './wire-values.ts';

/** Fields that are read of each call in any case. */
const known: Readonly<Record<string, ReadField['read']>> = {
  date_added: ({ time }) => time,
  talk_minutes: ({ talk }) => inTenths(talk),
};

const inTenths = (tenths: number | null): number | null => (tenths === null ? null : tenths / 10);

type Reading = Pick<ReadField, 'type' | 'scale' | 'read'>;

function readingOf({ name, type }: FieldSpec): Reading {
  switch (type) {
    case 'datetime':
    case 'datetime-tenths':
      return { type: 'time', scale: 1, read: (call) => timeOf(call.value(name)) };
    case 'decimal-string':
      return { type: 'number', scale: 10, read: (call) => inTenths(tenthsOf(call.value(name))) };
    case 'integer':
    case 'integer-string':
      return {
        ...{ type: 'number', scale: 1 },
        read: (call) => integerOf(call.value(name), type === 'integer'),
      };
    default:
      return { type: 'text', scale: 1, read: (call) => textOf(call.value(name)) };
  }
}

function fieldOf(spec: FieldSpec): ReadField {
  const { name, meaning, personal, otherNames = [] } = spec;
  const reading = readingOf(spec);
  return {
    ...{ name, meaning, personal, otherNames, isTime: false, needsSequence: false, needs: [name] },
    ...reading,
    read: known[name] ?? reading.read,
  };
}

function byName(): ReadonlyMap<string, ReadField> {
  const list = [...fields.map(fieldOf), ...derived];
  const all = new Map(list.map((field) => [field.name, field]));
  const add = (name: string, field: ReadField) => void (all.has(name) || all.set(name, field));
  for (const field of list) for (const name of field.otherNames) add(name, field);
  // The names that the API gave to ads fields, without the prefix that people leave out.
  for (const field of list) if (field.name.startsWith('ppc_')) add(field.name.slice('ppc_'.length), field);
  return all;
}

/** All fields by their names, those that people use for them included. */
export const allFields: ReadonlyMap<string, ReadField> = byName();

/** The fields of questions that records do not have. */
export const derivedFields: readonly QuestionField[] = derived;

/** All fields of a question by their names, those that people use for them included. */
export const questionFields = (): ReadonlyMap<string, QuestionField> => allFields;

/**
 * Reads a condition without asking anything: for editors, and for programs that change a condition before they pass it on.
 *
 * @example
 * const result = parseCondition("talk_minutes >= 2 AND state IN ('TX', 'CA')");
 * if (!result.ok) console.log(result.problem.message, result.problem.corrected);
 */
export function parseCondition(text: string): ConditionResult {
  return readCondition(text, allFields);
}
