import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';

const warehouseErrors = codeTable({
  usage: {
    not_found: 'The file does not exist. Check the path, or create it with `calls sync`.',
    not_a_warehouse:
      'The file is not a DuckDB file, holds something else, or is of a later release. Check the path, or update this program.',
    unknown_account: 'The warehouse has no such account. Use one of its accounts.',
    invalid_question: 'An argument cannot be used. The message says which, and what was expected.',
    invalid_sql: 'DuckDB refused the SQL. The message has its reason and the place.',
    missing_package:
      "DuckDB's binary for this platform is not installed, or does not load. The message says what to do.",
    invalid_dataset: 'A folder of Parquet files cannot be loaded or written to. The message says why.',
  },
  busy: {
    in_use: 'Another process has the file open, or fills the same account. Wait until it ends.',
  },
  data: {
    memory_limit:
      'The question needs more memory than a warehouse may use. Choose a shorter time or fewer groups.',
    time_limit:
      'The question took longer than its time limit. Raise the limit, or choose a shorter time or fewer groups.',
    aborted: 'The signal of the caller was aborted. The `cause` is its reason.',
    invalid_record:
      'A call cannot be stored, for example because it has no usable `sid`. `refused` says which calls of the batch it were.',
  },
  disk: {
    damaged:
      'The file is damaged, or was removed, replaced or cut while it was in use. Restore a copy, or name a new file and sync again.',
    disk_full: 'The disk is full. Free space and run again; nothing is damaged.',
    not_writable: 'The file or its folder cannot be opened to read or write. Check its permissions.',
  },
  bug: {
    database: 'The database failed for a reason that has no code of its own. The `cause` is its error.',
  },
});

/** What can go wrong with a warehouse. Codes are stable; messages may be reworded. */
export type WarehouseErrorCode = keyof typeof warehouseErrors;

/** Something went wrong with a warehouse. The message says what, and what to do; it never holds data of a caller. */
export class WarehouseError extends CallsError<WarehouseErrorCode> {
  static override readonly codes: CodeTable = warehouseErrors;
  /** With `invalid_record`: all of the calls given to `commit` that cannot be stored, counted from 0. */
  declare readonly refused?: readonly number[];
  static {
    nameErrors(WarehouseError, 'WarehouseError');
  }

  constructor(
    code: WarehouseErrorCode,
    message: string,
    { refused, ...details }: { hint?: string; cause?: unknown; refused?: readonly number[] } = {},
  ) {
    super(code, message, code === 'damaged' ? { ...details, isRetryable: false } : details);
    if (refused !== undefined) this.refused = refused;
  }
}

/** Did DuckDB need more memory than it may use? */
export const isMemoryLimit = (error: unknown): boolean =>
  error instanceof WarehouseError && error.code === 'memory_limit';

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `WarehouseError` of warehouse. */
    WarehouseError: WarehouseError;
  }
}
