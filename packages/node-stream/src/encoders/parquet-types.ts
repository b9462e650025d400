import { ConfigurationError } from '@call-attribution/core/errors';
import { day, parseNaive } from '@call-attribution/core/time';
import { numberOf } from '../operators/fields.ts';
import { type Cell, halfPair } from './row-text.ts';

/**
 * The type of a Parquet column. `decimal` is a floating-point number. `timestamp` is a local time without a zone, as in the records.
 */
export type ParquetType = 'string' | 'integer' | 'decimal' | 'date' | 'timestamp' | 'boolean';

/** How the values of a type are stored. */
export interface StoredType {
  /** The type in the schema of the file, as `hyparquet-writer` takes it. */
  readonly element: Readonly<Record<string, unknown>>;
  /** The value in the file; undefined for one that does not fit the type. */
  store(wire: unknown, name: string, item: unknown): Cell;
}

const whole = /^-?\d+$/;
const notFinite: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity']);
const upToMillis = 'YYYY-MM-DD HH:MM:SS.SSS'.length;

const types: Readonly<Record<ParquetType, StoredType>> = {
  string: {
    element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    store(wire, name, item) {
      const text = typeof wire === 'string' ? wire : String(wire);
      if (!text.isWellFormed()) throw halfPair(name, item, 'Parquet');
      return text;
    },
  },
  integer: {
    element: { type: 'INT64' },
    store(wire) {
      const integer = integerOf(wire);
      return integer !== undefined && BigInt.asIntN(64, integer) === integer ? integer : undefined;
    },
  },
  decimal: {
    element: { type: 'DOUBLE' },
    // In words they are meant; as numbers they come from a calculation that went wrong.
    store: (wire, name, item) => (notFinite.has(wire) ? Number(wire) : numberOf(wire, name, item)),
  },
  date: {
    element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    store(wire) {
      const millis = parseNaive(`${wire} 00:00:00`);
      return Number.isNaN(millis) ? undefined : millis / day;
    },
  },
  timestamp: {
    element: {
      type: 'INT64',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' },
    },
    store(wire) {
      const text = String(wire);
      const millis = parseNaive(text.slice(0, upToMillis));
      const micros = text.slice(upToMillis);
      if (Number.isNaN(millis) || !/^\d{0,3}$/.test(micros)) return undefined;
      return BigInt(millis) * 1000n + BigInt(micros.padEnd(3, '0'));
    },
  },
  boolean: {
    element: { type: 'BOOLEAN' },
    store: (wire) => (typeof wire === 'boolean' ? wire : undefined),
  },
};

/** How values of the type are stored. Throws for a type that does not exist. */
export function storedType(type: ParquetType, column: string): StoredType {
  if (Object.hasOwn(types, type)) return types[type];
  throw new ConfigurationError(
    'invalid_option',
    `column ${column} has the unknown type ${JSON.stringify(type)}; expected ${Object.keys(types).join(', ')}`,
  );
}

function integerOf(wire: unknown): bigint | undefined {
  if (typeof wire === 'bigint') return wire;
  if (typeof wire === 'number') return Number.isSafeInteger(wire) ? BigInt(wire) : undefined;
  return typeof wire === 'string' && whole.test(wire) ? BigInt(wire) : undefined;
}
