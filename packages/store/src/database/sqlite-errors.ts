import { closeSync, openSync } from 'node:fs';
import { propertyOf } from '@call-attribution/core/errors';
import { isOutOfFiles, StoreError, tooManyFiles } from './errors.ts';

const primaryCodes: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
};

/** The code of an error. The driver gives some a number alone, whose lowest byte is the code. */
function codeOf(error: unknown): string {
  const code = String(propertyOf(error, 'code') ?? '');
  const number = /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(code)?.[1];
  return (number && primaryCodes[Number(number) & 255]) ?? code;
}

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
      'not_writable',
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

  const files = outOfFiles(cause);
  if (files !== null) return files;

  // The driver gives a file that cannot be opened no code.
  if (code === '' || /^SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH|IOERR)/.test(code)) {
    const isWrite = !isReadOnly || /^SQLITE_(?:READONLY|PERM)/.test(code);
    return new StoreError(
      isWrite ? 'not_writable' : 'store_unavailable',
      `The database file ${file} cannot be read or written${code && ` (${code})`}: the file and its folder must exist and be writable.`,
      { cause },
    );
  }

  return new StoreError('store_failed', `SQLite refused a statement of the store (${code}).`, {
    cause,
  });
}

/** SQLite does not say that a process has no descriptors left: another file says it. */
function outOfFiles(cause: unknown): StoreError | null {
  try {
    closeSync(openSync(process.execPath, 'r'));
    return null;
  } catch (error) {
    return isOutOfFiles(error) ? tooManyFiles(cause) : null;
  }
}
