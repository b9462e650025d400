import { CallsError, nameErrors } from '@call-attribution/core/errors';

/** What can go wrong with a warehouse. Codes are stable; messages may be reworded. */
export type WarehouseErrorCode =
  /** The file does not exist. Check the path, or create it with `calls sync`. */
  | 'not_found'
  /** The file is not a DuckDB file, is damaged, or holds something else. Check the path, or restore it from a backup. */
  | 'not_a_warehouse'
  /** A later release wrote the file. Update this program. */
  | 'newer_version'
  /** Another process has the file open and did not close it in time. Wait until it ends. */
  | 'in_use'
  /** Another sync fills the same account. Wait until it ends. */
  | 'account_in_use'
  /** The disk is full. Free space and run again; nothing is damaged. */
  | 'disk_full'
  /** The file or its folder cannot be opened to read or write. Check its permissions. */
  | 'not_writable'
  /** The question needs more memory than a warehouse may use. Choose a shorter time or fewer groups. */
  | 'memory_limit'
  /** The question took longer than its time limit. Raise the limit, or choose a shorter time or fewer groups. */
  | 'time_limit'
  /** The signal of the caller was aborted. The `cause` is its reason. */
  | 'aborted'
  /** A call without a usable `sid`. Check where it comes from. */
  | 'invalid_record'
  /** The warehouse has no such account. Use one of its accounts. */
  | 'unknown_account'
  /** A field, group or measure does not exist. Use one of the suggested names. */
  | 'unknown_name'
  /** Parts of a question do not go together, or a limit was passed. The message says which. */
  | 'invalid_question'
  /** A condition in `where`, `having` or `q` cannot be read. The error has the `problem` with its place, and a correction when there is one. */
  | 'invalid_condition'
  /** The question groups by personal data without saying what to do with it. Say so, or group by another field. */
  | 'personal_data'
  /** DuckDB refused the SQL. The message has its reason and the place. */
  | 'invalid_sql'
  /** DuckDB's binary for this platform is not installed, or does not load. The message says what to do. */
  | 'missing_package'
  /** A folder of Parquet files cannot be loaded or written to. The message says why. */
  | 'invalid_dataset'
  /** The database failed for a reason that has no code of its own. The `cause` is its error. */
  | 'database';

/** Something went wrong with a warehouse. The message says what, and what to do; it never holds data of a caller. */
export class WarehouseError extends CallsError<WarehouseErrorCode> {
  static {
    nameErrors(WarehouseError, 'WarehouseError');
  }

  constructor(code: WarehouseErrorCode, message: string, details: { hint?: string; cause?: unknown } = {}) {
    super(code, message, { ...details, isRetryable: passing.has(code) });
  }
}

/** Did DuckDB need more memory than it may use? */
export const isMemoryLimit = (error: unknown): boolean =>
  error instanceof WarehouseError && error.code === 'memory_limit';

/** What ends by itself. */
const passing: ReadonlySet<WarehouseErrorCode> = new Set(['in_use', 'account_in_use']);

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `WarehouseError` of warehouse. */
    WarehouseError: WarehouseError & { readonly code: Exclude<WarehouseErrorCode, 'invalid_condition'> };
  }
}
