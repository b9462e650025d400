// Records to bytes: CSV, JSON lines, a JSON array, Parquet, gzip. Each encoder is an operator, for pipe and for file sinks.

export { type CsvOptions, toCsv } from './csv.ts';
export { type CsvColumn, type CsvDialect, csvLine } from './csv-row.ts';
export { toGzip } from './gzip.ts';
export { toJsonArray, toNdjson } from './json.ts';
export { type ParquetOptions, toParquet } from './parquet.ts';
export type { ParquetColumn } from './parquet-columns.ts';
export type { ParquetType } from './parquet-types.ts';
