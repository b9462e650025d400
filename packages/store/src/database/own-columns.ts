import { fields } from '@call-attribution/core/record';
import { parseNaive } from '@call-attribution/core/time';

/** The SQL type of a column. SQLite keeps what does not fit such a type as text, so a row never has to be refused. */
type ColumnType = 'timestamp' | 'numeric' | 'bigint' | 'text';

/** A field that has a column of its own: by the type of its values, or because people group and search by it. */
export interface OwnColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** The value for the column; null when it cannot be read as its type. */
  read(value: unknown): string | number | null;
}

/** `2026-10-05 08:00:00`, also with tenths of a second. */
const timeLengths: ReadonlySet<number> = new Set([19, 21]);
const integerForm = /^-?\d{1,15}$/;
const decimalForm = /^-?\d{1,15}(?:\.\d{1,15})?$/;

const readers: Readonly<Record<ColumnType, OwnColumn['read']>> = {
  // PostgreSQL has no year 0.
  timestamp: (value) =>
    typeof value === 'string' &&
    timeLengths.has(value.length) &&
    !value.startsWith('0000') &&
    !Number.isNaN(parseNaive(value))
      ? value
      : null,
  numeric: (value) => {
    const text = typeof value === 'number' ? String(value) : value;
    return typeof text === 'string' && decimalForm.test(text) ? text : null;
  },
  bigint: (value) => {
    if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null;
    return typeof value === 'string' && integerForm.test(value) ? Number(value) : null;
  },
  text: (value) => (typeof value === 'string' ? value : null),
};

/** Fields of text that people group and search by. */
export const groupedFields = ['ppc_campaign', 'ppc_keywords', 'landing_page', 'referrer', 'channel'] as const;

/** A field of text that calls are grouped by. */
export type GroupedField = (typeof groupedFields)[number];

const grouped: ReadonlySet<string> = new Set(groupedFields);

const types: Readonly<Record<string, ColumnType>> = {
  integer: 'bigint',
  'integer-string': 'bigint',
  'decimal-string': 'numeric',
  datetime: 'timestamp',
  'datetime-tenths': 'timestamp',
};

/** The fields that have a column of their own, in the order of the field table. */
export const ownColumns: readonly OwnColumn[] = fields.flatMap(({ name, type }) => {
  const column = grouped.has(name) ? 'text' : types[type];
  return column === undefined ? [] : [{ name, type: column, read: readers[column] }];
});
