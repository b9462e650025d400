import type { CodeTable, ErrorDetails, ErrorWords } from '@call-attribution/core/errors';
import { CallsError, codeTable, nameErrors, propertyOf } from '@call-attribution/core/errors';

const storeErrors = codeTable({
  usage: {
    store_url:
      'The URL names no store, or one that cannot be used: another kind of file, other tables, or calls of no sandbox. Write it as `sqlite:calls.db` or `postgres://user@host/database`, or choose another store, as the message says.',
    missing_package:
      'The package of the database is not installed. Install the one that the message names.',
    store_missing:
      'There is no store at the URL, and one that is only read is not made. Fill it with a sync first.',
    invalid_sql:
      'A statement of SQL has a mistake, or does more than read. The message has what the database said.',
    unknown_account: 'The store has no such account. Add it first, or use one of its accounts.',
    unfit_filter:
      'The store has no column for a field or bound of the filter. Use the fields of `filterFields` of query-dsl, or a condition of a question.',
  },
  busy: {
    store_busy: 'Another process keeps the database busy. Try again.',
    claim_lost:
      'Another process fills the same account or journal, or the database went back to an earlier state. Run again when no other process does.',
  },
  away: {
    store_unavailable:
      'The store cannot be opened or reached, or has been closed. Check the path or the server, and its permissions.',
  },
  data: {
    time_limit:
      'A statement of SQL took longer than its time limit and was stopped. Ask for less, or raise the limit.',
    unfit_record:
      'A call cannot be stored, for example because it has no `sid`. `refused` says which calls of the batch it were.',
  },
  disk: {
    not_writable:
      'The database file, or its folder, is not there or may not be written to, or the disk is full. Check the path, its permissions and the disk; nothing is damaged.',
    store_damaged:
      'The database file is damaged, or was removed, replaced or cut while the store was open. Restore a copy and start again.',
  },
  bug: {
    store_failed:
      'The database refused a statement for another reason, or gave fewer rows than it counted. The `cause`, if any, has the code of the database.',
  },
});

/** The stable codes of {@link StoreError}. */
export type StoreErrorCode = keyof typeof storeErrors;

/** What a `StoreError` knows. */
export interface StoreErrorDetails extends ErrorDetails {
  /** With `unfit_record`: which of the calls it were, counted from 0. */
  readonly refused?: readonly number[] | undefined;
}

/**
 * What went wrong in a store. The `code` is stable, the message says what to do. It never holds a
 * secret or personal data.
 */
export class StoreError extends CallsError<StoreErrorCode> {
  static override readonly codes: CodeTable = storeErrors;
  /**
   * With `unfit_record`: all of the calls given to `upsert` or `commitClaimed` that cannot be
   * stored, counted from 0.
   */
  declare readonly refused?: readonly number[];

  static {
    nameErrors(StoreError, 'StoreError');
  }

  constructor(
    code: StoreErrorCode,
    words: string | ErrorWords,
    { refused, ...details }: StoreErrorDetails = {},
  ) {
    super(code, words, details);
    if (refused !== undefined) this.refused = refused;
  }
}

/** There is nothing to read. */
export const noStore = (name: string): StoreError =>
  new StoreError('store_missing', {
    message: `There is no store ${name}.`,
    hint: `calls sync --store ${name} fills one.`,
  });

/** Is it the error of a process, or a machine, that may not open more files? */
export const isOutOfFiles = (error: unknown): boolean =>
  /^E[MN]FILE$/.test(String(propertyOf(error, 'code')));

/** What to do then. */
export const tooManyFiles = (cause: unknown): StoreError =>
  new StoreError(
    'store_unavailable',
    {
      message:
        'The store cannot be opened: this process has as many files open as it may (EMFILE).',
      hint: 'Raise the limit, for example with ulimit -n 4096, or close other files.',
    },
    { cause },
  );

/** Says how to install a package that is missing; passes other errors on. */
export const needs = (name: string, message: string) => (cause: unknown) => {
  if (isOutOfFiles(cause)) throw tooManyFiles(cause);
  const isMissing = propertyOf(cause, 'code') === 'ERR_MODULE_NOT_FOUND';
  if (!isMissing || !String(propertyOf(cause, 'message')).includes(`'${name}'`)) throw cause;
  const hint = `Install it with: npm install ${name}`;
  throw new StoreError('missing_package', { message, hint }, { cause });
};

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `StoreError` of store. */
    StoreError: StoreError;
  }
}
