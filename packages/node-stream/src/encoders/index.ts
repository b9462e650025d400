// Records to bytes: CSV, JSON lines, a JSON array, Parquet, gzip. Each encoder is an operator, for
// pipe and for file sinks.

export { type Column, type CsvOptions, csvLine, toCsv } from './csv.ts';
export { toGzip } from './gzip.ts';
export { type ParquetColumn, type ParquetOptions, type ParquetType, toParquet } from './parquet.ts';
export { toJsonArray, toNdjson } from './text.ts';
