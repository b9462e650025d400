import type { Call, FieldType } from '@call-attribution/core';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { fields } from '@call-attribution/core/record';
import { inCall } from '../accumulators/decimal.ts';
import { ItemError } from '../errors.ts';
import { type ParquetType, readBack, type SchemaElement, storedType } from './parquet-types.ts';
import type { Cell } from './row-text.ts';

/** A column of your own. */
export interface ParquetColumn<T = Call> {
  /** Its name in the file. */
  name: string;
  /** How its values are stored. */
  type: ParquetType;
  /** The value of a record; a string as on the wire or a value of the type. */
  value: (item: T) => string | number | bigint | boolean | null | undefined;
}

/** A column with its element of the file's schema, and how a value is stored. */
export interface ReadyColumn<T> {
  readonly name: string;
  readonly element: SchemaElement;
  read(item: T): unknown;
  /** What a reader of the file gets for it. */
  cell(item: T): Cell;
}

const typeOf: Readonly<Record<FieldType, ParquetType>> = {
  string: 'string',
  url: 'string',
  null: 'string',
  integer: 'integer',
  'integer-string': 'integer',
  'decimal-string': 'decimal',
  datetime: 'timestamp',
  'datetime-tenths': 'timestamp',
};

/** Prepares the columns of the options. Throws for a name that is not a field. */
export function parquetColumns<T>(
  columns: readonly (string | ParquetColumn<T>)[] | undefined,
): ReadyColumn<T>[] {
  if (columns?.length === 0)
    throw new ConfigurationError(
      'invalid_option',
      'columns is empty; name at least one column, or leave columns out for all fields',
    );
  return (columns ?? fields.map(({ name }) => name)).map((column) => {
    if (typeof column !== 'string') return ready(column.name, column.type, column.value);
    const field = fields.find(({ name }) => name === column);
    if (field) return ready(column, typeOf[field.type], (item) => propertyOf(item, column));
    const names = fields.map(({ name }) => name).join(', ');
    throw new ConfigurationError(
      'invalid_option',
      `there is no field ${column}; for a column of your own use { name, type, value }. Fields: ${names}`,
    );
  });
}

function ready<T>(name: string, type: ParquetType, value: (item: T) => unknown): ReadyColumn<T> {
  const { element, store } = storedType(type, name);
  const read = (item: T): unknown => {
    const wire = value(item);
    if (wire === null || wire === undefined) return null;
    const stored = store(wire, name, item);
    if (stored !== undefined) return stored;
    throw new ItemError('unfit_value', {
      message: `column ${name}${inCall(item)} has type ${type}, which a ${typeof wire} value${isLong(wire) ? ' with so many digits' : ''} does not fit`,
      hint: `choose another type for the column`,
    });
  };
  return {
    name,
    element: { name, repetition_type: 'OPTIONAL', ...element },
    read,
    cell: (item) => readBack(read(item), element),
  };
}

/** A number that has more digits than a floating-point number keeps. */
const isLong = (wire: unknown): boolean => /^-?(?=.{17})\d+(?:\.\d+)?$/.test(String(wire));
