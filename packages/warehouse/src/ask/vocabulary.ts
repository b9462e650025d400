import { type FieldSpec, fields } from '@call-attribution/core';
import { fieldColumns, quoted } from '../tables/columns.ts';
import { derivedFields } from '../tables/derived.ts';
import type { Term } from '../where/condition.ts';
import { type ConditionResult, readCondition } from '../where/parse.ts';

/** A field that a question can name. */
export interface QuestionField extends Term {
  readonly meaning: string;
  /** Tells who the caller is or how to reach them. */
  readonly personal: boolean;
  /** A bucket of time: its groups are in order and have no gaps. */
  readonly isTime: boolean;
}

const timeBuckets = new Set(['day', 'week', 'month', 'weekday', 'hour']);

/** All fields of a question. `time` is the expression of the time of a call, in the zone the question is about. */
export function questionFields(time = 'date_added'): ReadonlyMap<string, QuestionField> {
  const list: QuestionField[] = [
    ...fields.map((field) => fieldTerm(field, time)),
    {
      name: 'account',
      type: 'text',
      sql: 'account',
      meaning: 'Account of the warehouse that the call was loaded into.',
      personal: false,
      isTime: false,
    },
    {
      name: 'is_extension',
      type: 'boolean',
      sql: 'is_extension',
      meaning: 'The call came through a call extension of an ad.',
      personal: false,
      isTime: false,
    },
    ...derivedFields.map(({ name, type, values, meaning, sql }): QuestionField => {
      const isTime = timeBuckets.has(name);
      const kind = type === 'date' ? (name as 'day' | 'week' | 'month') : type;
      const number = name === 'hour' ? 'whole' : 'tenths';
      return { name, type: kind, sql: sql(time), values, number, meaning, personal: false, isTime };
    }),
  ];
  const byName = new Map(list.map((term) => [term.name, term]));
  const rename = (name: string, other: string) => {
    const field = byName.get(name);
    if (field) byName.set(other, field);
  };
  for (const { name, otherNames = [] } of fields) for (const other of otherNames) rename(name, other);
  rename('day', 'date');
  return byName;
}

const columnTypes = new Map(fieldColumns.map(({ name, type }) => [name, type]));

function fieldTerm(field: FieldSpec, time: string): QuestionField {
  const { name, meaning, personal, values, openValues } = field;
  const column = columnTypes.get(name);
  const isTimestamp = column === 'TIMESTAMP';
  const isNumber = column === 'BIGINT' || column === 'INTEGER' || column === 'DECIMAL(9,1)';
  return {
    name,
    type: isTimestamp ? 'time' : isNumber ? 'number' : 'text',
    sql: name === 'date_added' ? time : quoted(name),
    number: column === 'DECIMAL(9,1)' ? 'tenths' : 'whole',
    usualValues: isNumber || isTimestamp || openValues ? undefined : values?.map(String),
    meaning,
    personal,
    isTime: false,
  };
}

const known = questionFields();

/**
 * Reads a condition without asking anything: for editors, and for programs that change a condition before they pass it on.
 *
 * @example
 * const result = parseCondition("talk_minutes >= 2 AND state IN ('TX', 'CA')");
 * if (!result.ok) console.log(result.problem.message, result.problem.corrected);
 */
export function parseCondition(text: string): ConditionResult {
  return readCondition(text, known);
}
