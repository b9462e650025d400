import type { FieldSpec } from '@call-attribution/core';
import { fields } from '@call-attribution/core/record';
import type { Value } from '../conditions/condition.ts';
import { derived, type QuestionField, type ReadField } from './derived.ts';
import { integerOf, tenthsOf, textOf, timeOf } from './wire-values.ts';

const inTenths = (tenths: number | null): number | null => (tenths === null ? null : tenths / 10);

function fieldOf({ name, type, meaning, personal, mask, otherNames = [] }: FieldSpec): ReadField {
  const isPhone = mask?.kind === 'phone' || name === 'dnis';
  const own = {
    name,
    meaning,
    personal,
    otherNames,
    isTime: false,
    otherCalls: 'none' as const,
    needs: [name],
    ...(isPhone ? { isPhone } : {}),
  };

  // The times and the minutes of calls are known in any case.
  if (name === 'date_added') return { ...own, type: 'time', scale: 1, read: ({ time }) => time };
  if (name === 'talk_minutes')
    return { ...own, type: 'number', scale: 10, read: ({ talk }) => inTenths(talk) };

  const typed = (
    kind: ReadField['type'],
    read: (value: unknown) => Value,
    scale = 1,
  ): ReadField => ({
    ...own,
    type: kind,
    scale,
    read: (call) => read(call.value(name)),
  });

  if (type === 'datetime' || type === 'datetime-tenths') return typed('time', timeOf);
  if (type === 'decimal-string') return typed('number', (value) => inTenths(tenthsOf(value)), 10);
  if (type !== 'integer' && type !== 'integer-string') return typed('text', textOf);
  return typed('number', (value) => integerOf(value, type === 'integer'));
}

function byName(): ReadonlyMap<string, ReadField> {
  const list = [...fields.map(fieldOf), ...derived];
  const all = new Map(list.map((field) => [field.name, field]));
  const add = (name: string, field: ReadField) => void (all.has(name) || all.set(name, field));
  for (const field of list) for (const name of field.otherNames) add(name, field);

  // The names that the API gave to ads fields, without the prefix that people leave out.
  for (const field of list)
    if (field.name.startsWith('ppc_')) add(field.name.slice('ppc_'.length), field);
  return all;
}

/** All fields by their names, those that people use for them included. */
export const allFields: ReadonlyMap<string, ReadField> = byName();

/** The fields of questions that records do not have. */
export const derivedFields: readonly QuestionField[] = derived;

/** All fields of a question by their names, those that people use for them included. */
export const questionFields = (): ReadonlyMap<string, QuestionField> => allFields;
