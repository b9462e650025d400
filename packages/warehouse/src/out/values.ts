import type { ParquetType } from '@call-attribution/node-stream/encoders';
import type { DuckDBType, DuckDBValue, DuckDBValueConverter, Json } from '@duckdb/node-api';
import { duckdb } from '../file/duckdb.ts';

const {
  DuckDBDateValue,
  DuckDBDecimalType,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTypeId,
  JsonDuckDBValueConverter,
} = duckdb;

const integers = new Set([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  // The type of sums of integers, which hardly ever need more than 64 bits.
  DuckDBTypeId.HUGEINT,
]);
const times = new Set([DuckDBTypeId.TIMESTAMP, DuckDBTypeId.TIMESTAMP_S, DuckDBTypeId.TIMESTAMP_MS]);

/** The column type for files of a type of DuckDB. None of them loses a digit. */
export function fileType(type: DuckDBType): ParquetType {
  const { typeId } = type;
  if (type instanceof DuckDBDecimalType) return `decimal(${type.width},${type.scale})`;
  if (integers.has(typeId)) return 'integer';
  if (times.has(typeId)) return 'timestamp';
  switch (typeId) {
    case DuckDBTypeId.UBIGINT:
      return 'decimal(20,0)';
    case DuckDBTypeId.FLOAT:
    case DuckDBTypeId.DOUBLE:
      return 'decimal';
    case DuckDBTypeId.DATE:
      return 'date';
    case DuckDBTypeId.BOOLEAN:
      return 'boolean';
    default:
      return 'string';
  }
}

/**
 * A value of DuckDB as plain JSON, within lists and structures as well. Numbers that would lose digits are text, and so is
 * what JSON has no type for, as DuckDB's own shell writes it.
 */
export const plainValue: DuckDBValueConverter<Json> = (value, type, converter) => {
  if (value === null || value === undefined) return null;
  switch (type.typeId) {
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.UBIGINT:
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UHUGEINT: {
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : String(value);
    }
    case DuckDBTypeId.DECIMAL:
      return exactNumber(String(value));
    case DuckDBTypeId.FLOAT:
      return typeof value === 'number' && Number.isFinite(value) ? shortest(value) : String(value);
    case DuckDBTypeId.INTERVAL:
      return String(value);
    case DuckDBTypeId.DATE:
    case DuckDBTypeId.TIMESTAMP_S:
    case DuckDBTypeId.TIMESTAMP_MS:
    case DuckDBTypeId.TIMESTAMP_NS:
      return infinityOf(value) ?? String(value);
    default:
      return JsonDuckDBValueConverter(value, type, converter);
  }
};

/** A decimal as a number, unless a digit would be lost or the number be written with an exponent. */
function exactNumber(text: string): number | string {
  const number = Number(text);
  const isExact = text.replace(/\D/g, '').length <= 15 && !String(number).includes('e');
  return isExact ? number : text;
}

/** The number with the fewest digits that is the same in 32 bits. */
function shortest(float: number): number {
  for (let digits = 1; ; digits++) {
    const number = Number(float.toPrecision(digits));
    if (Math.fround(number) === float) return number;
  }
}

/** The name of a time that is infinite; DuckDB's client writes it as a date far away. */
function infinityOf(value: DuckDBValue): string | null {
  const count = countOf(value);
  if (count === null) return null;
  return count < 0 ? '-infinity' : 'infinity';
}

function countOf(value: DuckDBValue): number | bigint | null {
  if (value instanceof DuckDBDateValue) return value.isFinite ? null : value.days;
  if (value instanceof DuckDBTimestampSecondsValue) return value.isFinite ? null : value.seconds;
  if (value instanceof DuckDBTimestampMillisecondsValue) return value.isFinite ? null : value.millis;
  if (value instanceof DuckDBTimestampNanosecondsValue) return value.isFinite ? null : value.nanos;
  return null;
}
