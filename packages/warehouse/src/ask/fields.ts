import {
  type Condition,
  type FieldSettings,
  fieldsOf,
  type QuestionField,
  type SelectionPlan,
} from '@call-attribution/questions';
import { column, type Source, type Sql } from '../sql/tree.ts';
import { derivedSql, sequenceSql, sequences } from '../tables/derived.ts';
import type { SqlTerms } from '../where/sql.ts';

const rowFields = new Map<string, (time: Sql, settings: FieldSettings) => Sql>(Object.entries(derivedSql));
const sequenceFields = new Map<string, Sql>(Object.entries(sequenceSql));

/** Needs a field the other calls of the caller in the database? Which call is the first is stored with each. */
export const needsSequences = (name: string): boolean => sequenceFields.has(name);

/** Where the calls of a query come from: with the place of each among those of its caller, where one of its fields needs that. */
export const sourceOf = (names: readonly string[]): Source =>
  names.some(needsSequences) ? { from: sequences, as: 'records' } : { from: 'records' };

/** A field as SQL over a row of `records`; `time` is the expression of the time of the call. */
export function fieldSql(name: string, time: Sql, settings: FieldSettings): Sql {
  if (name === 'date_added') return time;
  return rowFields.get(name)?.(time, settings) ?? sequenceFields.get(name) ?? column(name);
}

/** The fields of a selection as SQL. */
export function termsOf({ fields, settings }: SelectionPlan, time: Sql): SqlTerms {
  return (name) => {
    const term = fieldOf(fields, name);
    return { term, sql: fieldSql(term.name, time, settings) };
  };
}

function fieldOf(fields: ReadonlyMap<string, QuestionField>, name: string): QuestionField {
  const field = fields.get(name);
  // Conditions are checked before they are printed.
  if (field === undefined) throw new TypeError(`There is no field ${name}.`);
  return field;
}

/** The fields that a condition names, under their own names. */
export const fieldNames = ({ fields }: SelectionPlan, condition: Condition): string[] =>
  [...fieldsOf(condition)].map((name) => fields.get(name)?.name ?? name);
