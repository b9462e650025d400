import { closeSync, openSync } from 'node:fs';
import { propertyOf } from '@call-attribution/core/errors';
import { isOutOfFiles, StoreError, tooManyFiles } from './errors.ts';

/**
 * The names of codes, with the message that SQLite has for each: Deno, and the SQLite for Node.js
 * 20, leave the number out of some errors.
 */
const codes: readonly (readonly [number, string, string])[] = [
  [1, 'SQLITE_ERROR', 'SQL logic error'],
  [5, 'SQLITE_BUSY', 'database is locked'],
  [6, 'SQLITE_LOCKED', 'database table is locked'],
  [7, 'SQLITE_NOMEM', 'out of memory'],
  [8, 'SQLITE_READONLY', 'attempt to write a readonly database'],
  [10, 'SQLITE_IOERR', 'disk I/O error'],
  [11, 'SQLITE_CORRUPT', 'database disk image is malformed'],
  [13, 'SQLITE_FULL', 'database or disk is full'],
  [14, 'SQLITE_CANTOPEN', 'unable to open database file'],
  [19, 'SQLITE_CONSTRAINT', 'constraint failed'],
  [23, 'SQLITE_AUTH', 'not authorized'],
  [26, 'SQLITE_NOTADB', 'file is not a database'],
];

/** Numbers of more than one byte say more than their lowest byte, which is one of the above. */
const exactCodes: Readonly<Record<number, string>> = {
  778: 'SQLITE_IOERR_WRITE',
  1034: 'SQLITE_IOERR_FSYNC',
  1546: 'SQLITE_IOERR_TRUNCATE',
  4874: 'SQLITE_IOERR_SHMSIZE',
};

/** The code of an error of SQLite by its name; empty for any other error. */
function sqliteCode(error: unknown): string {
  if (propertyOf(error, 'code') !== 'ERR_SQLITE_ERROR') return '';
  const number = Number(propertyOf(error, 'errcode') ?? 0);
  const message = String(propertyOf(error, 'message') ?? '');
  const isMeant = ([known, , said]: (typeof codes)[number]): boolean =>
    number === 0 ? message === said : known === (number & 255);
  const name = codes.find(isMeant)?.[1] ?? (number === 0 ? 'SQLITE_ERROR' : `SQLITE_${number}`);
  return exactCodes[number] ?? name;
}

/** Is it an error of SQLite, and not of the code that uses it? */
export const isOfSqlite = (error: unknown): boolean => sqliteCode(error) !== '';

/** Is another connection writing? Then the same statement succeeds later. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error instanceof StoreError ? error.cause : error);
  return code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}

/** Is it what SQLite says of a statement that has a mistake? */
export const isMistake = (error: unknown): boolean => sqliteCode(error) === 'SQLITE_ERROR';

/** The error of the store for one of SQLite, which was to be read, or written as well. */
export function fromSqlite(cause: unknown, file: string, isReadOnly = true): StoreError {
  if (cause instanceof StoreError) return cause;
  const code = sqliteCode(cause);

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

  if (code === 'SQLITE_CORRUPT') {
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

  if (/^SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH|IOERR)/.test(code)) {
    const isWrite = !isReadOnly || /^SQLITE_(?:READONLY|PERM)/.test(code);
    return new StoreError(
      isWrite ? 'not_writable' : 'store_unavailable',
      `The database file ${file} cannot be read or written (${code}): its folder must exist, and both must be writable.`,
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
