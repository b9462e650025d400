import { columns, fieldColumns, literal, quoted } from './columns.ts';
import { derivedColumns } from './derived.ts';

/** Version of the tables that this release writes and reads. */
export const schemaVersion = 2;

/** The names of the tables of a warehouse. */
export const tableNames: readonly string[] = [
  'meta',
  'records',
  'accounts',
  'callers',
  'erased',
  'sync_state',
];

/** The name of the view for people. */
export const viewName = 'calls';

/** The tables of an empty warehouse. */
export const createTables: readonly string[] = [
  'CREATE TABLE meta (version INTEGER NOT NULL, pending VARCHAR)',
  `INSERT INTO meta VALUES (${schemaVersion}, NULL)`,
  `CREATE TABLE records (${columns.map(({ name, type }) => `${quoted(name)} ${type}`).join(', ')})`,
  `CREATE TABLE accounts (account VARCHAR NOT NULL, calls BIGINT NOT NULL,
     first_call TIMESTAMP, last_call TIMESTAMP, stored_at TIMESTAMP, purged_before TIMESTAMP)`,
  'CREATE TABLE callers (caller_key BIGINT NOT NULL, no UINTEGER NOT NULL)',
  'CREATE TABLE erased (account VARCHAR NOT NULL, made_with VARCHAR NOT NULL, caller VARCHAR NOT NULL)',
  'CREATE TABLE sync_state (account VARCHAR NOT NULL, state VARCHAR NOT NULL, saved_at TIMESTAMP NOT NULL, finished_at TIMESTAMP)',
];

/** Columns of the view `calls`, with what each holds. */
const viewColumns: readonly {
  readonly name: string;
  readonly sql: string;
  readonly meaning: string;
}[] = [
  ...columns.filter(({ name }) => name === 'account'),
  ...fieldColumns,
  ...columns.filter(({ name }) => ['is_extension', 'other', 'loaded_at'].includes(name)),
]
  .map(({ name, meaning }) => ({ name, sql: quoted(name), meaning }))
  .concat(derivedColumns);

/**
 * The hash of the statement that makes the view, as DuckDB writes it. Working it out each time a file is opened would take as long as
 * the rest of opening; a test does.
 */
export const viewDigest = '5sQ/b9nVZJuPz0m5JanH7F/wnM31EyY4ksJVmVDpK/U=';

/** The view `calls` and the comments on tables and columns. Written again whenever the tables change. */
export const createView: readonly string[] = [
  `CREATE OR REPLACE VIEW calls AS SELECT ${viewColumns.map(({ name, sql }) => `${sql} AS ${quoted(name)}`).join(', ')} FROM records`,
  `COMMENT ON VIEW calls IS ${literal('One row for each call. Times are as the API sent them, without a time zone.')}`,
  `COMMENT ON TABLE records IS ${literal('The stored calls. The view calls has the same fields, and more that follow from them.')}`,
  `COMMENT ON TABLE sync_state IS ${literal('Where the sync of each account is.')}`,
  `COMMENT ON TABLE callers IS ${literal('A small number for each caller_key, by which records name their caller.')}`,
  `COMMENT ON TABLE erased IS ${literal('Hashes of the numbers of callers that must not be loaded again, and the key that they were made with.')}`,
  ...viewColumns.map(({ name, meaning }) => `COMMENT ON COLUMN calls.${quoted(name)} IS ${literal(meaning)}`),
  ...columns.map(({ name, meaning }) => `COMMENT ON COLUMN records.${quoted(name)} IS ${literal(meaning)}`),
];
