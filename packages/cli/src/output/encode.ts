import type { Call, FieldSpec } from '@call-attribution/core';
import {
  type ParquetColumn,
  toCsv,
  toGzip,
  toJsonArray,
  toNdjson,
  toParquet,
} from '@call-attribution/node-stream/encoders';
import type { Operator } from '@call-attribution/node-stream/operators';
import { fieldsOf, pickFields } from '../input/fields.ts';
import { toXlsx } from './xlsx.ts';

/** A format that a file of records can have. */
export type FileFormat = 'ndjson' | 'csv' | 'json' | 'parquet' | 'xlsx';

/** What bytes items become. */
export interface Encoded {
  readonly format: FileFormat;
  readonly gzip: boolean;
  /**
   * With a byte order mark, an apostrophe before strings that a spreadsheet would run as formulas,
   * and U+FFFD for half of a surrogate pair.
   */
  readonly isForSpreadsheet: boolean;
}

/** Formats that a file of records can have. */
export const fileFormats = [
  'ndjson',
  'csv',
  'json',
  'parquet',
  'xlsx',
] as const satisfies readonly FileFormat[];

/** The format that the name of a file ends in; null when it says none. */
export function formatOfName(name: string): {
  readonly format: FileFormat | null;
  readonly gzip: boolean;
} {
  const gzip = name.endsWith('.gz');
  const extension = /\.([a-z]+)$/i.exec(gzip ? name.slice(0, -3) : name)?.[1]?.toLowerCase();
  const known =
    extension === 'jsonl' ? 'ndjson' : fileFormats.find((format) => format === extension);
  return { format: known ?? null, gzip };
}

/** Where a command writes, and in which form. */
export interface Target<F extends string> extends Omit<Encoded, 'format'> {
  readonly format: F;
  /** The file as typed; null for stdout. */
  readonly output: string | null;
}

/**
 * The encoders that turn items into the bytes of a file. Columns are fields by name, or read from
 * the item.
 */
export function encodingOf<T>(
  { format, gzip, isForSpreadsheet }: Encoded,
  columns: readonly ((keyof T & string) | ParquetColumn<T>)[],
): readonly [Operator<T, Uint8Array>, ...Operator<Uint8Array, Uint8Array>[]] {
  const encoder = (): Operator<T, Uint8Array> => {
    switch (format) {
      case 'csv':
        return toCsv<T>({
          columns,
          bom: isForSpreadsheet,
          safe: isForSpreadsheet,
        });
      case 'parquet':
        return toParquet<T>({ columns });
      case 'xlsx':
        return toXlsx<T>(columns);
      case 'json':
        return toJsonArray<T>();
      case 'ndjson':
        return toNdjson<T>();
    }
  };
  return gzip ? [encoder(), toGzip()] : [encoder()];
}

/**
 * How calls are written, with some fields or, for null, with all of the version: JSON has only
 * these, the other formats columns.
 */
export function formOfCalls(
  target: Encoded,
  fields: readonly FieldSpec[] | null,
  version: 'v2' | 'v3',
) {
  const columns = (fields ?? fieldsOf(version)).map(({ name }) => name) as (keyof Call & string)[];
  const isPicked = fields !== null && target.format.endsWith('json');
  const encode = encodingOf<Call>(target, columns);
  return {
    pick: (call: Call): Call => (isPicked ? (pickFields(call, fields) as unknown as Call) : call),
    encode,
    /** Throws for a call that the format has no form for. JSON has one for each. */
    check: (call: Call): void => {
      if (!target.format.endsWith('json')) encode[0].rows?.text(call);
    },
  };
}
