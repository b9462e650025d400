import { propertyOf } from '@call-attribution/core/errors';
import { StoreError } from './errors.ts';

const codeOf = (error: unknown): string => String(propertyOf(error, 'code') ?? '');

/** Is it an error of SQLite, and not of the code that uses it? */
export function isOfSqlite(error: unknown): boolean {
  return /^SQLITE_/.test(codeOf(error)) || (error instanceof Error && error.name === 'SqliteError');
}

/** Is another connection writing? Then the same statement succeeds later. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)/.test(codeOf(error instanceof StoreError ? error.cause : error));
}

/** The error of the store for one of SQLite, which was to be read, or written as well. */
export function fromSqlite(cause: unknown, file: string, isReadOnly = true): StoreError {
  if (cause instanceof StoreError) return cause;
  const code = codeOf(cause);
  // SQLite cannot enlarge the shared memory or a journal: in practice the disk is full.
  if (code === 'SQLITE_FULL' || /^SQLITE_IOERR_(?:SHMSIZE|WRITE|TRUNCATE|FSYNC)/.test(code)) {
    return new StoreError(
      'disk_full',
      `The disk with the database ${file} is full, or cannot be written to (${code}). Free some space and try again.`,
      { cause, isRetryable: true },
    );
  }
  if (isBusy(cause)) {
    return new StoreError(
      'store_busy',
      'Another process has been writing to the database for too long. Try again, or end that process.',
      { cause },
    );
  }
  if (code.startsWith('SQLITE_CORRUPT')) {
    return new StoreError(
      'store_damaged',
      `The database file ${file} is damaged, or a part of it is missing (${code}). Restore a copy, or use another path and sync again.`,
      { cause, isRetryable: false },
    );
  }
  if (code === 'SQLITE_NOTADB') {
    return new StoreError(
      'store_url',
      `The file ${file} is not a SQLite database (${code}). Use another path.`,
      { cause },
    );
  }
  // The driver gives a file that cannot be opened no code.
  if (code === '' || /^SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH|IOERR)/.test(code)) {
    const isWrite = !isReadOnly || /^SQLITE_(?:READONLY|PERM)/.test(code);
    return new StoreError(
      isWrite ? 'not_writable' : 'store_unavailable',
      `The database file ${file} cannot be read or written${code && ` (${code})`}: the file and its folder must exist and be writable.`,
      { cause },
    );
  }
  return new StoreError('store_failed', `SQLite refused a statement of the store (${code}).`, { cause });
}
