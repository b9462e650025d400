import { existsSync } from 'node:fs';
import { WarehouseError } from '../errors.ts';
import { columns } from '../tables/columns.ts';
import { createTables, createView, schemaVersion } from '../tables/schema.ts';
import type { Session } from './session.ts';

/** What a file is to this release. */
export type FileState = 'absent' | 'empty' | 'ready' | 'older';

/** Whether a path has a file that DuckDB could open: one of no bytes is an empty database. */
export const isAbsent = (path: string): boolean => !existsSync(path);

/** Looks at the tables of an open file. Throws when it is not a warehouse, or one of a later release. */
export async function inspect(session: Session, path: string): Promise<FileState> {
  const tables = new Set(
    (
      await session.all("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal")
    ).map((row) => row.table_name),
  );
  if (tables.size === 0) return 'empty';
  if (!tables.has('meta') || !tables.has('records')) {
    throw new WarehouseError(
      'not_a_warehouse',
      `${path} is a DuckDB file but not a warehouse of calls. Name another file.`,
    );
  }
  const { version } = await session.one('SELECT version FROM meta');
  const names = await session.all(
    "SELECT column_name FROM duckdb_columns() WHERE table_name = 'records' AND NOT internal",
  );
  const found = new Set(names.map((row) => String(row.column_name)));
  const known = new Set(columns.map(({ name }) => name));
  if (Number(version) > schemaVersion || [...found].some((name) => !known.has(name))) throw newer(path);
  return Number(version) < schemaVersion || columns.some(({ name }) => !found.has(name)) ? 'older' : 'ready';
}

function newer(path: string): WarehouseError {
  return new WarehouseError(
    'newer_version',
    `${path} was written by a later release of @call-attribution/warehouse. Install that release, or a later one.`,
  );
}

/** Makes the tables of a warehouse in an empty file. */
export async function create(session: Session): Promise<void> {
  await session.transaction(async () => {
    for (const statement of [...createTables, ...createView]) await session.run(statement);
  });
}
