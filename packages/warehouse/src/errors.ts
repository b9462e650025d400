/** What can go wrong with a warehouse. Codes are stable; messages may be reworded. */
export type WarehouseErrorCode =
  /** The file does not exist. */
  | 'not_found'
  /** The file is not a DuckDB file, or holds something else. */
  | 'not_a_warehouse'
  /** A later release wrote the file. */
  | 'newer_version'
  /** Another process has the file open and did not close it in time. */
  | 'in_use'
  /** Another sync fills the same account. */
  | 'account_in_use'
  | 'disk_full'
  /** The file or its folder cannot be written. */
  | 'not_writable'
  | 'memory_limit'
  | 'time_limit'
  /** The signal of the caller was aborted. */
  | 'aborted'
  /** A call without a usable `sid`. */
  | 'invalid_record'
  | 'unknown_account'
  /** A field, group or measure that does not exist. */
  | 'unknown_name'
  /** Parts of a question that do not go together, or a limit. */
  | 'invalid_question'
  /** A condition in `where`, `having` or `q` cannot be read. The error has the `problem` with its place. */
  | 'invalid_condition'
  /** The question groups by personal data without saying what to do with it. */
  | 'personal_data'
  /** DuckDB refused the SQL. */
  | 'invalid_sql'
  /** A folder of Parquet files cannot be loaded or written to. */
  | 'invalid_dataset'
  | 'database';

/** Something went wrong with a warehouse. The message says what, and what to do; it never holds data of a caller. */
export class WarehouseError extends Error {
  /** What went wrong: a stable code. */
  readonly code: WarehouseErrorCode;
  /** What to do about it, when the message alone does not say so. */
  readonly hint: string | undefined;

  constructor(code: WarehouseErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'WarehouseError';
    this.code = code;
    this.hint = options.hint;
  }
}
