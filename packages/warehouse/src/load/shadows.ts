import { createHash } from 'node:crypto';
import { WarehouseError } from '../errors.ts';
import type { Row, Session } from '../file/session.ts';
import { tableNames, viewDigest, viewName } from '../tables/schema.ts';

// A file may define what our statements use: a macro `concat` or `+`, a type JSON, a view in the place of a table. Statements here
// name everything in full and compare only with <>, for which no macro can stand in.

/** Throws when a file defines names anew that DuckDB or this package has, before any statement uses them. */
export async function refuseShadows(session: Session, path: string): Promise<void> {
  const names = async (sql: string, isTaken: (name: string) => boolean): Promise<string[]> =>
    namesOf(await session.all(sql)).filter((name) => isTaken(name.toLowerCase()));
  const own = new Set(tableNames);
  const any = (): boolean => true;
  const macros = await names(catalog('functions', 'function_name'), any);
  const types = await names(`SELECT type_name AS name FROM ${duckdbTypes} WHERE NOT internal`, any);
  const found = [
    ...marked('macro', await ofDuckDB(session, macros, functionNames)),
    ...marked('type', await ofDuckDB(session, types, typeNames)),
    ...marked('view', await names(catalog('views', 'view_name'), (name) => own.has(name))),
    ...marked('table', await names(catalog('tables', 'table_name'), (name) => name === viewName)),
    ...marked(
      'sequence',
      await names(catalog('sequences', 'sequence_name'), (name) => own.has(name) || name === viewName),
    ),
  ];
  if (found.length === 0) return;
  const shown = found.slice(0, 5).join(', ') + (found.length > 5 ? ` and ${found.length - 5} more` : '');
  throw new WarehouseError(
    'not_a_warehouse',
    `${path} has names of its own that stand in for those of DuckDB or of a warehouse: ${shown}. Nothing was read. Drop them with DuckDB if they are yours, or name another file.`,
  );
}

const duckdbTypes = 'system.main.duckdb_types()';
const typeNames = `SELECT type_name AS name FROM ${duckdbTypes} WHERE internal`;
const functionNames =
  "SELECT function_name AS name FROM system.main.duckdb_functions() WHERE NOT database_name <> 'system'";

const catalog = (what: string, column: string): string =>
  `SELECT ${column} AS name FROM system.main.duckdb_${what}() WHERE database_name <> 'system' AND database_name <> 'temp'`;
const namesOf = (rows: readonly Row[]): string[] => [...new Set(rows.map(({ name }) => String(name)))];
const marked = (kind: string, names: readonly string[]): string[] =>
  names.map((name) => `${kind} ${name.slice(0, 80)}`);

/** Those of the names of a file that DuckDB has itself. */
async function ofDuckDB(session: Session, names: readonly string[], list: string): Promise<string[]> {
  if (names.length === 0) return [];
  const builtIn = new Set(namesOf(await session.all(list)).map((name) => name.toLowerCase()));
  return names.filter((name) => builtIn.has(name.toLowerCase()));
}

/** Is the view `calls` the one that this release makes? It is not in a file of another release, or in one that somebody has changed. */
export async function hasOwnView(session: Session): Promise<boolean> {
  const rows = await session.all(
    'SELECT schema_name, view_name, sql FROM system.main.duckdb_views() WHERE NOT internal',
  );
  const view = rows.find((row) => row.schema_name === 'main' && row.view_name === viewName);
  return view !== undefined && digestOf(String(view.sql)) === viewDigest;
}

/** The hash of a statement. */
const digestOf = (sql: string): string => createHash('sha256').update(sql).digest('base64');
