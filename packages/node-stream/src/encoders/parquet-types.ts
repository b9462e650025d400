import { ConfigurationError } from '@call-attribution/core/errors';
import { day, parseNaive } from '@call-attribution/core/time';
import { numberOf } from '../operators/fields.ts';
import { type Cell, halfPair } from './row-text.ts';

/**
 * The type of a Parquet column. `decimal` is a floating-point number; `decimal(9,1)` keeps every digit: nine of them here,
 * one after the point, and 38 at most. `timestamp` is a local time without a zone, as in the records.
 */
export type ParquetType =
  | 'string'
  | 'integer'
  | 'decimal'
  | `decimal(${number},${number})`
  | 'date'
  | 'timestamp'
  | 'boolean';

/** How the values of a type are stored. */
export interface StoredType {
  /** The type in the schema of the file, as `hyparquet-writer` takes it. */
  readonly element: Readonly<Record<string, unknown>>;
  /** The value in the file; undefined for one that does not fit the type. */
  store(wire: unknown, name: string, item: unknown): unknown;
}

const whole = /^-?\d+$/;
const notFinite: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity']);
const upToMillis = 'YYYY-MM-DD HH:MM:SS.SSS'.length;

const types: Readonly<Record<string, StoredType>> = {
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
  const known = Object.hasOwn(types, type) ? types[type] : exactDecimal(type);
  if (known) return known;
  throw new ConfigurationError(
    'invalid_option',
    `column ${column} has the unknown type ${JSON.stringify(type)}; expected ${Object.keys(types).join(', ')} or decimal(digits,digits after the point) with 38 digits at most`,
  );
}

/** What a reader gets for a stored value: exact decimals come as the nearest numbers. */
export function readBack(stored: unknown, { scale }: StoredType['element']): Cell {
  switch (typeof stored) {
    case 'bigint':
      return typeof scale === 'number' ? Number(stored) * 10 ** -scale : stored;
    case 'string':
    case 'number':
    case 'boolean':
      return stored;
    default:
      return null;
  }
}

function exactDecimal(type: string): StoredType | undefined {
  const [precision = 0, scale = 0] = /^decimal\((\d+),(\d+)\)$/.exec(type)?.slice(1).map(Number) ?? [];
  if (precision < 1 || precision > 38 || scale > precision) return undefined;
  const number = precision > 9 ? 'INT64' : 'INT32';
  return {
    element: {
      ...(precision > 18 ? { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 } : { type: number }),
      converted_type: 'DECIMAL',
      precision,
      scale,
      logical_type: { type: 'DECIMAL', precision, scale },
    },
    store(wire) {
      const digits = unscaled(wire, scale);
      const limit = 10n ** BigInt(precision);
      return digits !== undefined && digits < limit && digits > -limit ? digits : undefined;
    },
  };
}

/** The digits of a decimal number without its point; undefined when it has more of them after the point. */
function unscaled(wire: unknown, scale: number): bigint | undefined {
  const text = typeof wire === 'number' ? wire.toFixed(scale) : String(wire);
  if (typeof wire === 'number' && Number(text) !== wire) return undefined;
  const [, integer, zeros = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const fraction = zeros.replace(/0+$/, '');
  if (integer === undefined || fraction.length > scale) return undefined;
  return BigInt(integer + fraction.padEnd(scale, '0'));
}

function integerOf(wire: unknown): bigint | undefined {
  if (typeof wire === 'bigint') return wire;
  if (typeof wire === 'number') return Number.isSafeInteger(wire) ? BigInt(wire) : undefined;
  return typeof wire === 'string' && whole.test(wire) ? BigInt(wire) : undefined;
}
