/** What went wrong in a store. The `code` is stable, the message says what to do. It never holds a secret or personal data. */
export class StoreError extends Error {
  /** What went wrong. */
  readonly code: StoreErrorCode;
  /** Can the same call succeed later, as when the database was busy or away? */
  readonly isRetryable: boolean;
  /** With `unfit_record`: which of the calls given to `upsert` or `commitClaimed` it was, counted from 0. */
  readonly index?: number;

  constructor(
    code: StoreErrorCode,
    message: string,
    options: { cause?: unknown; retryable?: boolean; index?: number } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'StoreError';
    this.code = code;
    this.isRetryable = options.retryable ?? false;
    if (options.index !== undefined) this.index = options.index;
  }
}

/** The stable codes of {@link StoreError}. */
export type StoreErrorCode =
  | 'store_url'
  | 'store_newer'
  | 'store_unavailable'
  | 'store_busy'
  | 'store_failed'
  | 'disk_full'
  | 'claim_lost'
  | 'unknown_account'
  | 'unfit_record'
  | 'short_page'
  | 'not_a_sandbox';
