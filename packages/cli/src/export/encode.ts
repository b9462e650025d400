import type { Call, FieldSpec } from '@call-attribution/core';
import {
  type Encoding,
  toCsv,
  toGzip,
  toJsonArray,
  toNdjson,
  toParquet,
} from '@call-attribution/node-stream';
import { fieldsOf, pickFields } from '../calls/columns.ts';
import type { FileFormat } from './target.ts';

/** How the calls are written, beside the format itself. */
export interface FormatOptions {
  /** Only these fields; null for all fields of the version. */
  readonly columns: readonly FieldSpec[] | null;
  readonly version: 'v2' | 'v3';
  readonly bom: boolean;
  readonly spreadsheetSafe: boolean;
}

/** The encoders that turn calls into the bytes of a file. */
export function encodingOf(
  target: { format: FileFormat; gzip: boolean },
  options: FormatOptions,
): Encoding<Call> {
  const columns = (options.columns ?? fieldsOf(options.version)).map((field) => field.name) as (keyof Call &
    string)[];
  const encoder = () => {
    switch (target.format) {
      case 'csv':
        return toCsv<Call>({ columns, bom: options.bom, safe: options.spreadsheetSafe });
      case 'parquet':
        return toParquet<Call>({ columns });
      case 'json':
        return toJsonArray<Call>();
      default:
        return toNdjson<Call>();
    }
  };
  return target.gzip ? [encoder(), toGzip()] : encoder();
}

/** The call as it is to be written: whole, or only the fields that were chosen (JSON formats; CSV picks by itself). */
export function projected(call: Call, options: FormatOptions, format: FileFormat): Call {
  const picks = options.columns !== null && (format === 'json' || format === 'ndjson');
  return picks ? (pickFields(call, options.columns ?? []) as unknown as Call) : call;
}
