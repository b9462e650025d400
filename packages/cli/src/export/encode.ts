import type { Call, FieldSpec } from '@call-attribution/core';
import { toCsv, toGzip, toJsonArray, toNdjson, toParquet } from '@call-attribution/node-stream/encoders';
import type { Encoding } from '@call-attribution/node-stream/sinks';
import type { FileFormat } from '../output/target.ts';
import { fieldsOf, pickFields } from '../reading/fields.ts';

/** How calls are written, apart from the format itself. */
export interface FormatOptions {
  /** Only these fields; null for all fields of the version. */
  readonly fields: readonly FieldSpec[] | null;
  readonly version: 'v2' | 'v3';
  readonly bom: boolean;
  readonly spreadsheetSafe: boolean;
}

/** The encoders that turn calls into the bytes of a file. */
export function encodingOf(
  target: { format: FileFormat; gzip: boolean },
  { fields, version, bom, spreadsheetSafe }: FormatOptions,
): Encoding<Call> {
  const columns = (fields ?? fieldsOf(version)).map(({ name }) => name) as (keyof Call & string)[];
  const encoder = () => {
    switch (target.format) {
      case 'csv':
        return toCsv<Call>({ columns, bom, safe: spreadsheetSafe });
      case 'parquet':
        return toParquet<Call>({ columns });
      case 'json':
        return toJsonArray<Call>();
      case 'ndjson':
        return toNdjson<Call>();
    }
  };
  return target.gzip ? [encoder(), toGzip()] : encoder();
}

/** The call with only the chosen fields, for the JSON formats; the others pick their columns themselves. */
export function picked(call: Call, { fields }: FormatOptions, format: FileFormat): Call {
  if (fields === null || (format !== 'json' && format !== 'ndjson')) return call;
  return pickFields(call, fields) as unknown as Call;
}
