import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { WarehouseError } from '../errors.ts';
import { duckdb } from './duckdb.ts';
import { refused } from './failure.ts';

// SQL that somebody else wrote shares DuckDB with the questions of the process, so it must not change anything of it. That a
// session is read-only and locked is not enough: `FROM enable_logging(storage='file')` is a SELECT, and ends the process.

/** Calls something of DuckDB's. */
type Native = <T>(work: () => Promise<T>) => Promise<T>;

const reading: ReadonlySet<number> = new Set([duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN]);

/** Prepares the one statement of some SQL, once it is sure that it only reads. */
export async function prepareReading(
  connection: DuckDBConnection,
  sql: string,
  native: Native,
): Promise<DuckDBPreparedStatement> {
  const statements = await native(() => connection.extractStatements(sql));
  if (statements.count > 1) throw new WarehouseError('invalid_sql', 'One statement at a time, please.');
  // Before it is prepared: that alone calls functions.
  if (statements.count === 1) await checkFunctions(connection, sql, native);
  const prepared = await native(() => statements.prepare(0));
  if (!reading.has(prepared.statementType)) throw refused(onlyReading);
  return prepared;
}

const onlyReading = 'The statement must be a SELECT, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN.';

/** Functions that make rows out of their arguments, of the columns of a table, or of the catalog. No other may be in FROM. */
const harmless: ReadonlySet<string> = new Set([
  'generate_series',
  'histogram',
  'histogram_values',
  'icu_calendar_names',
  'json_each',
  'json_tree',
  'pg_timezone_names',
  'query_table',
  'range',
  'repeat',
  'repeat_row',
  'summary',
  'unnest',
]);
const isHarmless = (name: string): boolean => harmless.has(name) || /^(?:duckdb|pragma)_/.test(name);

async function checkFunctions(connection: DuckDBConnection, sql: string, native: Native): Promise<void> {
  const first = async (question: string, value: string): Promise<unknown> => {
    const result = await native(() => connection.run(question, [value]));
    return (await native(() => result.getRows()))[0]?.[0];
  };
  const tree = await first('SELECT json_serialize_sql($1::VARCHAR)', explained(sql));
  const names = functionsIn(JSON.parse(String(tree)));
  if (names === null) throw refused(onlyReading);
  for (const name of names) {
    if (isHarmless(name)) continue;
    // About a function that does not exist, DuckDB says which one may be meant.
    const exists = await first('SELECT count(*) > 0 FROM duckdb_functions() WHERE function_name = $1', name);
    if (exists) throw refused(`SQL cannot use the function ${name} in FROM.`);
  }
}

/**
 * What an EXPLAIN explains; other SQL as it is. A comment of the form that can hold others is not skipped: one that ends elsewhere
 * than DuckDB finds would hide what runs.
 */
function explained(sql: string): string {
  const explain =
    /^(?:\s|--[^\r\n]*\n)*explain\b(?:\s*analyze\b)?(?:\s*\(\s*(?:analyze|format)\b[\w\s,]*\))?/i;
  return sql.replace(explain, '');
}

/** The name of the function that a node of such a tree calls. */
function nameOfCall(node: object): string {
  const called = 'function' in node ? node.function : undefined;
  return typeof called === 'object' && called !== null && 'function_name' in called
    ? String(called.function_name)
    : 'undefined';
}

/** The functions in FROM, in the tree of a statement as DuckDB gives it. Null when it gives none: it is not a SELECT then. */
function functionsIn(tree: { readonly error?: boolean }): Set<string> | null {
  if (tree.error !== false) return null;
  const found = new Set<string>();
  const left: unknown[] = [tree];
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== 'object' || node === null) continue;
    if ('type' in node && node.type === 'TABLE_FUNCTION') found.add(nameOfCall(node).toLowerCase());
    for (const part of Object.values(node)) left.push(part);
  }
  return found;
}
