/** What went wrong in a store: `code` is stable, the message says what to do. Never holds a secret or a caller's data. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** True when the same call may succeed later without a change (a busy or absent database). */
  readonly isRetryable: boolean;

  constructor(code: StoreErrorCode, message: string, options: { cause?: unknown; retryable?: boolean } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'StoreError';
    this.code = code;
    this.isRetryable = options.retryable ?? false;
  }
}

/** The stable codes of {@link StoreError}. */
export type StoreErrorCode =
  | 'store_url'
  | 'store_newer'
  | 'store_unavailable'
  | 'store_busy'
  | 'unknown_account'
  | 'unfit_record'
  | 'short_page'
  | 'not_a_sandbox';
