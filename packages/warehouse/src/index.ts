// Every call in columns: a local DuckDB file that a sync fills, exact answers at any size, Parquet in and out.
// Start with openWarehouse(path): fill it with sink() or load(), ask it with analyze(), count(), calls() and query().

export { WarehouseError, type WarehouseErrorCode } from './errors.ts';
export type { Loaded } from './load/files.ts';
export type { Merged } from './load/merge.ts';
export type { CallsQuery } from './out/calls.ts';
export type { ExportedFile, ExportOptions, ExportSummary } from './out/dataset.ts';
export type { SqlColumn, SqlOptions, SqlResult, SqlResultValue, SqlRow } from './out/query.ts';
export {
  type Count,
  openWarehouse,
  type Warehouse,
  type WarehouseOptions,
} from './warehouse.ts';
