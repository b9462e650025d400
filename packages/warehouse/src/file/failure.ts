import { join } from 'node:path';
import { WarehouseError, type WarehouseErrorCode } from '../errors.ts';

interface Kind {
  readonly pattern: RegExp;
  readonly code: WarehouseErrorCode;
  message(path: string, match: RegExpExecArray): string;
}

const inUseMessage = (path: string, pid: unknown): string =>
  `${pid === undefined || pid === null ? 'Another process' : `Process ${pid}`} has ${path} open. Wait until it closes the file, or end it.`;

/** Another process writes, or is about to. */
export const inUse = (path: string, pid: number | null, cause: unknown): WarehouseError =>
  new WarehouseError('in_use', inUseMessage(path, pid), { cause });

/** What DuckDB's messages mean, and what to say instead. */
const kinds: readonly Kind[] = [
  {
    pattern: /Could not set lock on file[\s\S]*?(?:\(PID (\d+)\)|$)|being used by another process/,
    code: 'in_use',
    message: (path, [, pid]) => inUseMessage(path, pid),
  },
  {
    pattern: /version number (?:\d+|.*newer)|newer version of DuckDB|created with a newer/i,
    code: 'not_a_warehouse',
    message: (path) =>
      `${path} was written by a later version of DuckDB. Install the release that wrote it, or a later one.`,
  },
  {
    pattern: /is a directory|EISDIR/i,
    code: 'not_a_warehouse',
    message: (path) => `${path} is a folder. Name a file in it, such as ${join(path, 'calls.duckdb')}.`,
  },
  {
    pattern: /not a valid DuckDB database|not a regular file/i,
    code: 'not_a_warehouse',
    message: (path) => `${path} is not a DuckDB file. Name another file, or a new one and sync again.`,
  },
  {
    pattern: /Could not read enough bytes|Corrupt|checksum/i,
    code: 'damaged',
    message: (path) =>
      `${path} is damaged, or a part of it is missing. Restore a copy, or name a new file and sync again; keep this one until then.`,
  },
  {
    pattern: /No space left|ENOSPC|File too large|EFBIG|Could not write all bytes|Disk quota/i,
    code: 'disk_full',
    message: (path) =>
      `The disk of ${path} is full. Nothing that was stored is lost: free some space and run the same command again.`,
  },
  {
    pattern: /Permission denied|Operation not permitted|EACCES|Read-only file system|EROFS|EPERM/i,
    code: 'not_writable',
    message: (path) =>
      `${path} cannot be opened to read or write. Check the permissions of the file and its folder.`,
  },
  {
    pattern: /database does not exist|No such file or directory|ENOENT/i,
    code: 'not_found',
    message: (path) => `There is no warehouse at ${path}.`,
  },
  {
    pattern: /^Out of Memory Error|failed to (?:allocate|pin block)/im,
    code: 'memory_limit',
    message: () =>
      'The question needs more memory than the warehouse may use. Ask for fewer groups or a shorter period, or raise `memory`.',
  },
];

/** The error of DuckDB or of the file system as an error of the warehouse. */
export function failureOf(error: unknown, path: string): WarehouseError {
  if (error instanceof WarehouseError) return error;
  const text = error instanceof Error ? error.message : String(error);
  for (const { pattern, code, message } of kinds) {
    const match = pattern.exec(text);
    if (match) return new WarehouseError(code, message(path, match), { cause: error });
  }
  return new WarehouseError('database', `The database of ${path} failed: ${firstLine(text)}`, {
    cause: error,
  });
}

/** The same for a folder of Parquet files, or for one of them. */
export function datasetFailure(error: unknown, path: string): WarehouseError {
  const text = error instanceof Error ? error.message : String(error);
  const known = failureOf(error, path);
  const code = /ENOTDIR|EEXIST/.test(text) ? 'invalid_dataset' : known.code;
  return new WarehouseError(code, datasetMessages[code]?.(path) ?? known.message, { cause: error });
}

const datasetMessages: Partial<Record<WarehouseErrorCode, (path: string) => string>> = {
  disk_full: (path) =>
    `The disk of ${path} is full. The files that are complete stay: free some space and run the same command again, which writes the others.`,
  not_found: (path) => `There is no file or folder ${path}.`,
  invalid_dataset: (path) => `A file is in the way of the folder ${path}. Choose another folder.`,
};

/** What DuckDB says about a statement that somebody wrote. */
export function sqlFailure(error: unknown, path: string): WarehouseError {
  const known = failureOf(error, path);
  if (known.code === 'memory_limit' || error instanceof WarehouseError) return known;
  if (error instanceof Error && error.message === 'Error in native callback') {
    return new WarehouseError('invalid_sql', 'There is no statement in the SQL.', { cause: error });
  }
  // No fault of the statement: the file is damaged, or the disk is.
  if (error instanceof Error && /^(?:Failed to [a-z ]+: )?IO Error/.test(error.message)) return known;
  const message = error instanceof Error ? error.message.replace(/^Failed to [a-z ]+: /, '') : String(error);
  const isLocked = /^Permission Error|read-only|configuration has been locked|is disabled/i.test(message);
  return isLocked ? refused(message, error) : new WarehouseError('invalid_sql', message, { cause: error });
}

/** The error of SQL that would do something else than read. */
export function refused(message: string, cause?: unknown): WarehouseError {
  const hint = 'SQL may only read the warehouse: no files, extensions, settings or changes.';
  return new WarehouseError('invalid_sql', message, { hint, ...(cause === undefined ? {} : { cause }) });
}

/** The first line without what is in quotes, which may be data of a caller. */
const firstLine = (text: string): string =>
  (text.split('\n')[0] ?? '').replace(/'[^']*'|"[^"]*"/g, "'...'").slice(0, 300);
