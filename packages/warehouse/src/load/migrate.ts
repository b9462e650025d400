import type { Call } from '@call-attribution/core';
import { WarehouseError } from '../errors.ts';
import type { Session } from '../file/session.ts';
import { columns, quoted } from '../tables/columns.ts';
import { callOf, recordJson } from '../tables/row-reader.ts';
import { createTables, createView, schemaVersion } from '../tables/schema.ts';
import { hasOwnView, refuseShadows } from './shadows.ts';

/** What a file is to this release. */
export type FileState = 'empty' | 'ready' | 'older';

/** Steps from one version of the tables to the next, from version 1 on. A released step never changes. */
const steps: readonly (readonly string[])[] = [
  // 1 to 2: callers have numbers, and accounts know how many calls they have.
  [
    'CREATE TABLE callers AS SELECT caller_key, (row_number() OVER () - 1)::UINTEGER AS no FROM (SELECT DISTINCT caller_key FROM records WHERE caller_key IS NOT NULL)',
    'ALTER TABLE records ADD COLUMN caller_no UINTEGER',
    'UPDATE records SET caller_no = callers.no FROM callers WHERE records.caller_key = callers.caller_key',
    'ALTER TABLE accounts ADD COLUMN calls BIGINT DEFAULT 0',
    'ALTER TABLE accounts ADD COLUMN first_call TIMESTAMP',
    'ALTER TABLE accounts ADD COLUMN last_call TIMESTAMP',
    'ALTER TABLE accounts ADD COLUMN stored_at TIMESTAMP',
    `UPDATE accounts SET calls = r.calls, first_call = r.first_call, last_call = r.last_call, stored_at = r.stored_at
       FROM (SELECT account, count(*) AS calls, min(date_added) AS first_call, max(date_added) AS last_call,
               max(loaded_at) AS stored_at FROM records GROUP BY account) r WHERE accounts.account = r.account`,
  ],
];

/** Looks at the tables of an open file. Throws when it is not a warehouse, or one of a later release. */
export async function inspect(session: Session, path: string): Promise<FileState> {
  await refuseShadows(session, path);
  const tables = new Set(
    (
      await session.all(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal AND NOT temporary",
      )
    ).map((row) => row.table_name),
  );
  if (tables.size === 0) return 'empty';
  if (!tables.has('meta') || !tables.has('records')) {
    throw new WarehouseError(
      'not_a_warehouse',
      `${path} is a DuckDB file but not a warehouse of calls. Name another file.`,
    );
  }
  const found = await recordColumns(session);
  const known = new Map<string, string>(columns.map(({ name, type }) => [name, type]));
  const [strange] = found.filter(({ name, type }) => known.has(name) && known.get(name) !== type);
  const { version = null } = await session.one('SELECT version FROM meta');
  if (strange !== undefined || typeof version !== 'number')
    throw new WarehouseError(
      'not_a_warehouse',
      `${path} is a DuckDB file but not a warehouse of calls: ${strange === undefined ? 'it has no version' : `records.${strange.name} has another type than ${known.get(strange.name)}`}. Name another file.`,
    );
  if (version > schemaVersion || found.some(({ name }) => !known.has(name))) {
    throw new WarehouseError(
      'not_a_warehouse',
      `${path} was written by a later release of @call-attribution/warehouse. Install that release, or a later one.`,
    );
  }
  const isPending = (await session.all('SELECT 1 FROM meta WHERE pending IS NOT NULL')).length > 0;
  if (version < schemaVersion || found.length < known.size || isPending) return 'older';
  return (await hasOwnView(session)) ? 'ready' : 'older';
}

/** The columns of the calls, with their types. */
async function recordColumns(session: Session): Promise<{ readonly name: string; readonly type: string }[]> {
  const rows = await session.all(
    "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'records' AND schema_name = 'main' AND NOT internal",
  );
  return rows.map((row) => ({ name: String(row.column_name), type: String(row.data_type) }));
}

/** Makes the tables of a warehouse in an empty file. */
export async function create(session: Session): Promise<void> {
  await session.transaction(async () => {
    await session.run([...createTables, ...createView].join(';\n'));
  });
}

/**
 * Brings the tables of an older release up to date. A field that the older release did not know gets its column, and its
 * values, which were among the unknown fields, move there; `replace` stores such calls again.
 */
export async function migrate(
  session: Session,
  replace: (account: string, calls: readonly Call[]) => Promise<void>,
): Promise<void> {
  await session.transaction(async () => {
    const { version } = await session.one('SELECT version FROM meta');
    for (const statements of steps.slice(Number(version) - 1))
      for (const statement of statements) await session.run(statement);
    const found = new Set((await recordColumns(session)).map(({ name }) => name));
    const added = columns.filter(({ name }) => !found.has(name));
    for (const { name, type } of added)
      await session.run(`ALTER TABLE records ADD COLUMN ${quoted(name)} ${type}`);
    if (added.length > 0) {
      // To the calls that are there the field is absent, until it is found among their unknown fields.
      const names = added.map(({ name }) => name).join(',');
      await session.run("UPDATE records SET absent = concat_ws(',', absent, $1)", [names]);
      await session.run("UPDATE meta SET pending = concat_ws(',', pending, $1)", [names]);
    }
    await session.run('UPDATE meta SET version = $1', [schemaVersion]);
    await session.run(createView.join(';\n'));
  });
  const { pending } = await session.one('SELECT pending FROM meta');
  if (pending === null) return;
  const names = String(pending).split(',');
  for (const { account } of await session.all('SELECT account FROM accounts')) {
    await replace(String(account), await callsWith(session, String(account), names));
  }
  await session.run('UPDATE meta SET pending = NULL');
}

/** The calls of an account that have one of these names among their unknown fields. */
async function callsWith(session: Session, account: string, names: readonly string[]): Promise<Call[]> {
  const isThere = names.map((name) => `json_exists(other, '$."${name}"')`).join(' OR ');
  const found = await session.all(
    `SELECT ${recordJson()} AS json FROM records WHERE account = $1 AND other IS NOT NULL AND (${isThere})`,
    [account],
  );
  return found.map(({ json }) => callOf(String(json)));
}
