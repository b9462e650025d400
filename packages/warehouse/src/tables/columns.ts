import { type FieldType, fields } from '@call-attribution/core';

/** Types of columns in the database file. */
export type ColumnType =
  | 'VARCHAR'
  | 'BIGINT'
  | 'INTEGER'
  | 'UINTEGER'
  | 'DECIMAL(9,1)'
  | 'TIMESTAMP'
  | 'BOOLEAN'
  | 'JSON';

/** A column of the table `records`. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** What it holds, for people who look at the table. */
  readonly meaning: string;
}

/** The column type of each kind of wire value. Times have no zone, because the API names none. */
const typeOf: Readonly<Record<FieldType, ColumnType>> = {
  string: 'VARCHAR',
  url: 'VARCHAR',
  null: 'VARCHAR',
  integer: 'BIGINT',
  'integer-string': 'INTEGER',
  'decimal-string': 'DECIMAL(9,1)',
  datetime: 'TIMESTAMP',
  'datetime-tenths': 'TIMESTAMP',
};

/** One column for each field of the field table, in its order. */
export const fieldColumns: readonly (Column & { readonly wire: FieldType })[] = fields.map((field) => ({
  name: field.name,
  type: typeOf[field.type],
  wire: field.type,
  meaning: field.valueMeanings
    ? `${field.meaning} ${field.values?.map((value, i) => `${value} ${field.valueMeanings?.[i]}`).join(', ')}.`
    : field.meaning,
}));

/** What is stored of a call besides its fields, in the order in which staged lines hold it. */
export const extraColumns: readonly Column[] = [
  { name: 'other', type: 'JSON', meaning: 'Fields that the field table does not know, by name.' },
  {
    name: 'wire',
    type: 'VARCHAR',
    meaning: 'Values that their column cannot give back exactly as the API sent them, by name, as JSON.',
  },
  {
    name: 'absent',
    type: 'VARCHAR',
    meaning: 'Names of the fields that the record does not have, with commas between.',
  },
  {
    name: 'caller_key',
    type: 'BIGINT',
    meaning:
      'The digits of ani after a leading 1, so that a number compares equal however it is written. Null without 1 to 18 digits.',
  },
  { name: 'is_extension', type: 'BOOLEAN', meaning: 'The call came through a call extension of an ad.' },
];

/** What the warehouse adds when it loads a call. */
const loadColumns: readonly Column[] = [
  { name: 'account', type: 'VARCHAR', meaning: 'Account of the warehouse that the call was loaded into.' },
  {
    name: 'caller_no',
    type: 'UINTEGER',
    meaning: 'Number of the caller in this file, from 0: one for each caller_key.',
  },
  {
    name: 'is_first',
    type: 'BOOLEAN',
    meaning: 'No earlier call of the same caller is in the account.',
  },
  { name: 'loaded_at', type: 'TIMESTAMP', meaning: 'When the call was loaded, in UTC.' },
];

/** All columns of the table `records`. */
export const columns: readonly Column[] = [...fieldColumns, ...extraColumns, ...loadColumns];

/** The name of a column as SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A string as SQL. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
