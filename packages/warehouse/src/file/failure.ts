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
    code: 'newer_version',
    message: (path) =>
      `${path} was written by a later version of DuckDB. Install the release that wrote it, or a later one.`,
  },
  {
    pattern:
      /not a valid DuckDB database|Could not read enough bytes|Corrupt|is a directory|EISDIR|not a regular file/i,
    code: 'not_a_warehouse',
    message: (path) =>
      `${path} is not a DuckDB file. Name another file, or remove this one to start an empty warehouse.`,
  },
  {
    pattern: /No space left|ENOSPC|File too large|EFBIG|Could not write all bytes|Disk quota/i,
    code: 'disk_full',
    message: (path) =>
      `The disk of ${path} is full. Nothing that was stored is lost: free some space and run the same command again.`,
  },
  {
    pattern: /Permission denied|EACCES|Read-only file system|EROFS|EPERM/i,
    code: 'not_writable',
    message: (path) => `${path} cannot be written. Check the permissions of the file and its folder.`,
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

/** What DuckDB says about a statement that somebody wrote. */
export function sqlFailure(error: unknown, path: string): WarehouseError {
  const known = failureOf(error, path);
  if (known.code === 'memory_limit' || error instanceof WarehouseError) return known;
  if (error instanceof Error && error.message === 'Error in native callback') {
    return new WarehouseError('invalid_sql', 'There is no statement in the SQL.', { cause: error });
  }
  const message = error instanceof Error ? error.message.replace(/^Failed to [a-z ]+: /, '') : String(error);
  const isLocked = /^Permission Error|read-only|configuration has been locked|is disabled/i.test(message);
  return new WarehouseError('invalid_sql', message, {
    ...(isLocked
      ? { hint: 'SQL may only read the warehouse: no files, extensions, settings or changes.' }
      : {}),
    cause: error,
  });
}

/** The first line without what is in quotes, which may be data of a caller. */
const firstLine = (text: string): string =>
  (text.split('\n')[0] ?? '').replace(/'[^']*'|"[^"]*"/g, "'...'").slice(0, 300);
