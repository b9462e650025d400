import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { propertyOf } from '@call-attribution/core/errors';
import { countOfAccount, moveOn } from './accounts/claims.ts';
import { timeOfChange } from './changes.ts';
import {
  type Cell,
  changeColumns,
  fieldColumns,
  learnedCells,
  recordColumns,
  rowsOf,
  viewColumns,
} from './columns.ts';
import type { Dialect, Driver, Session } from './database/driver.ts';
import { noStore, StoreError } from './database/errors.ts';
import { oddRowsAfter } from './read.ts';

interface Table {
  readonly columns: ReadonlyMap<string, string>;
  readonly key: string;
}

const table = (key: string, columns: string): Table => ({
  key,
  columns: new Map(
    columns.split(', ').map((column) => {
      const end = column.indexOf(' ');
      return [column.slice(0, end), column.slice(end + 1)];
    }),
  ),
});

/**
 * All tables. Every key begins with the account, except in `credentials`, which are looked up
 * before the account is known. There are no sequences and triggers. A distributed PostgreSQL can
 * therefore shard by account. A key is what the account calls something, so it is compared byte by
 * byte.
 *
 * `erased` has hashes of the numbers of erased callers, with the key that they were made with, and `purged_before` the time before
 * which an account has no calls; its `revision` grows with each change of its calls, `changed_at` is the time of the last one, and
 * `calls` says how many its writes have left. `removed` has the keys of calls that were deleted, with the time. `credentials`
 * tells those that a sync reads with from those that somebody added; `claims` also has the states
 * of syncs as their notes, and `journals` the lines of append-only lists.
 */
const tables: Readonly<Record<string, Table>> = {
  accounts: table(
    'account',
    'account key NOT NULL, name text NOT NULL, disabled smallint NOT NULL, purged_before text, revision bigint NOT NULL DEFAULT 0, calls bigint NOT NULL DEFAULT 0, changed_at timestamp',
  ),
  credentials: table(
    'id',
    'id key NOT NULL, account key NOT NULL, kind text NOT NULL, secret_hash text, revoked smallint NOT NULL, synced smallint NOT NULL',
  ),
  records: { key: 'account, sid', columns: new Map([...recordColumns, ...changeColumns]) },
  sms_numbers: table(
    'account, number',
    'account key NOT NULL, number key NOT NULL, sms_enabled text NOT NULL, url text NOT NULL',
  ),
  erased: table(
    'account, made_with, caller',
    'account key NOT NULL, made_with key NOT NULL, caller key NOT NULL',
  ),
  removed: table(
    'account, sid',
    'account key NOT NULL, sid key NOT NULL, removed_at timestamp NOT NULL',
  ),
  claims: table(
    'account, name',
    'account key NOT NULL, name key NOT NULL, token bigint NOT NULL, holder text NOT NULL, claimed_at bigint NOT NULL, commits bigint NOT NULL DEFAULT 0, note text, noted_at bigint',
  ),
  journals: table('name, n', 'name key NOT NULL, n bigint NOT NULL, line text NOT NULL'),
};

/**
 * The index of times has what pages and counts are found by, and what questions ask of every call,
 * so that none of them reads the rows for it. That of odd rows has no entries as long as servers
 * send what the field table says, and that of changes none for rows of earlier releases.
 */
const indexes: Readonly<Record<string, string>> = {
  records_time: 'records (account, date_added, sid, talk_minutes, extension, ani, changed_at)',
  records_odd: 'records (account) WHERE odd IS NOT NULL',
  records_changed: 'records (account, changed_at) WHERE changed_at IS NOT NULL',
  removed_time: 'removed (account, removed_at, sid)',
};

/**
 * What programs ask in SQL. A call that was removed and came back is in `calls` alone.
 */
const views: Readonly<Record<string, string>> = {
  calls: `SELECT ${viewColumns} FROM records`,
  removals: `SELECT account, sid, removed_at FROM removed WHERE NOT EXISTS
    (SELECT 1 FROM records WHERE records.account = removed.account AND records.sid = removed.sid)`,
};

/** What tells a layout from others. */
const layout = createHash('sha256')
  .update(
    JSON.stringify([
      Object.entries(tables).map(([name, { columns, key }]) => [name, [...columns], key]),
      indexes,
      views,
    ]),
  )
  .digest('hex')
  .slice(0, 16);

const sqlOf = (name: string, type: string, dialect: Dialect) =>
  `"${name}" ${type.replace(/^key/, dialect.key)}`;

/**
 * Errors that occur when another process makes the tables at the same moment. The next attempt
 * finds the work done.
 */
const sameMoment = new Set(['23505', '42P07', '42P01', '42701']);

/**
 * Makes the tables of a new store, and adds columns that an earlier one lacks, with what servers
 * have sent of these fields before; one that is only read is not changed. Several processes may do
 * so at the same time. Refuses a store with any other difference.
 */
export async function prepareTables(
  driver: Driver,
  name: string,
  isReadOnly: boolean,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    if ((await layoutOf(driver)) === layout) return;
    const missing = await differences(driver, name);
    if (isReadOnly) {
      if (missing === null) throw noStore(name);
      if (missing.length === 0) return;
      throw new StoreError('store_url', {
        message: `${name} lacks ${namesOf(missing)} of this release.`,
        hint: `Open it to write once, which adds them: calls sync --store ${name}.`,
      });
    }
    try {
      await driver.write((session) => makeTables(session, driver, missing));
      return;
    } catch (error) {
      const code = propertyOf(propertyOf(error, 'cause'), 'code');
      if (attempt >= 5 || !sameMoment.has(String(code))) throw error;
      await new Promise((done) => setTimeout(done, 20 * attempt));
    }
  }
}

/** The layout that the store says it has; null when it is not a store yet. */
async function layoutOf(driver: Driver): Promise<string | null> {
  try {
    const [row] = await driver.all('SELECT layout FROM meta WHERE id = 1');
    return row === undefined ? null : String(row.layout);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'store_failed') return null;
    throw error;
  }
}

/** What a store of an earlier release lacks: a column, or a whole table. */
interface Missing {
  readonly of: string;
  readonly column: string | null;
}

/** What a store may lack: columns of fields, and what came with a later release. */
const isAddable = ({ of, column }: Missing): boolean => {
  if (of === 'accounts') return column === 'calls' || column === 'changed_at';
  return of === 'records' ? column !== null : of === 'removed';
};

/** What is missing, in words. */
function namesOf(missing: readonly Missing[]): string {
  const columns = new Set(missing.map(({ column }) => column).filter((name) => name !== null));
  const whole = missing.filter(({ column }) => column === null).map(({ of }) => of);
  return [
    ...(columns.size === 0 ? [] : [`the columns ${[...columns].join(', ')}`]),
    ...(whole.length === 0 ? [] : [`the table ${whole.join(', ')}`]),
  ].join(' and ');
}

/**
 * What is not there yet; null for a database without a store. Any other difference is refused by its
 * name.
 */
async function differences(driver: Driver, name: string): Promise<Missing[] | null> {
  const found = new Map<string, Map<string, string>>();
  for (const row of await driver.all(
    driver.dialect.columnsQuery([...Object.keys(tables), 'meta']),
  )) {
    const columns = found.get(String(row.table_name)) ?? new Map<string, string>();
    found.set(
      String(row.table_name),
      columns.set(String(row.name), String(row.type).toLowerCase()),
    );
  }

  if (found.size === 0) return null;

  const refuse = (what: string): StoreError =>
    new StoreError('store_url', {
      message: `${name} is not a store of this release: ${what}.`,
      hint: 'Sync into a new one, such as sqlite:new.db.',
    });

  if (!found.get('meta')?.has('layout'))
    throw refuse('it has tables of a store, and none "meta" that says of which kind');
  if ((await layoutOf(driver)) === null) throw refuse('its table "meta" is empty');
  const missing: Missing[] = [];
  for (const [of, { columns }] of Object.entries(tables)) {
    const there = found.get(of);
    if (there === undefined) {
      if (!isAddable({ of, column: null })) throw refuse(`it has no table "${of}"`);
      missing.push({ of, column: null });
      continue;
    }
    for (const [column, type] of there) {
      const wanted = columns.get(column)?.split(' ')[0]?.replace('key', 'text');
      if (wanted === undefined) throw refuse(`its table "${of}" has a column "${column}"`);
      if (!type.startsWith(wanted))
        throw refuse(`the column "${column}" of its table "${of}" is ${type}, not ${wanted}`);
    }
    for (const column of columns.keys()) {
      if (there.has(column)) continue;
      if (!isAddable({ of, column })) throw refuse(`its table "${of}" has no column "${column}"`);
      missing.push({ of, column });
    }
  }

  return missing;
}

/** What columns mean, for whoever looks at them in the database. */
const comments: readonly (readonly [name: string, meaning: string])[] = [
  ...fieldColumns.map(({ name, meaning }) => [name, meaning] as const),
  ['stored_at', 'When the call came into the store, in UTC.'],
  ['changed_at', 'When what is stored of the call changed last, in UTC.'],
];

/** Makes all tables, or adds what is missing, in one transaction. */
async function makeTables(
  session: Session,
  driver: Driver,
  missing: readonly Missing[] | null,
): Promise<void> {
  const { dialect } = driver;
  const { schema } = dialect;
  await session.run(
    `CREATE TABLE IF NOT EXISTS ${schema}meta (id smallint NOT NULL PRIMARY KEY, layout text NOT NULL)`,
  );
  await session.run("INSERT INTO meta (id, layout) VALUES (1, '') ON CONFLICT (id) DO NOTHING");
  const [row] = await session.all(`SELECT layout FROM meta WHERE id = 1 ${dialect.lock}`);
  if (row?.layout === layout) return;
  const added = missing ?? Object.keys(tables).map((of) => ({ of, column: null }));
  for (const { of, column } of added) {
    const { columns, key } = tables[of] as Table;
    if (column === null) {
      const parts = [...columns].map(([each, type]) => sqlOf(each, type, dialect));
      await session.run(`CREATE TABLE ${schema}${of} (${parts.join(', ')}, PRIMARY KEY (${key}))`);
    } else
      await session.run(
        `ALTER TABLE ${schema}${of} ADD COLUMN ${sqlOf(column, columns.get(column) ?? '', dialect)}`,
      );
  }

  for (const name of Object.keys(indexes))
    await session.run(`DROP INDEX IF EXISTS ${schema}${name}`);
  const ofRecords = (missing ?? [])
    .filter(({ of }) => of === 'records')
    .map(({ column }) => column)
    .filter((name) => name !== null);
  if (ofRecords.length > 0) await fillColumns(session, driver, ofRecords);
  for (const [name, of] of Object.entries(indexes))
    await session.run(`CREATE INDEX ${schema}${name} ON ${of}`);

  // Of what an earlier release has written, what is there counts.
  if (missing?.some(({ of, column }) => of === 'accounts' && column === 'calls'))
    await session.run(`UPDATE accounts SET calls = ${countOfAccount}`);

  for (const [name, query] of Object.entries(views)) {
    await session.run(`DROP VIEW IF EXISTS ${schema}${name}`);
    await session.run(`CREATE VIEW ${schema}${name} AS ${query}`);
  }

  if (dialect.hasComments)
    for (const of of ['records', 'calls'])
      for (const [name, meaning] of comments)
        await session.run(
          `COMMENT ON COLUMN ${of}."${name}" IS '${meaning.replaceAll("'", "''")}'`,
        );

  await session.run('UPDATE meta SET layout = $1 WHERE id = 1', [layout]);
}

/** Calls that are read and written at a time. */
const callsAtOnce = 1_000;

/**
 * Moves what servers sent of fields before a release knew them from `odd` into their new columns:
 * filters and SQL look at columns alone.
 */
async function fillColumns(
  session: Session,
  driver: Driver,
  columns: readonly string[],
): Promise<void> {
  const times = new Map<string, string>();
  let last: readonly [account: string, sid: string] = ['', ''];
  for (;;) {
    const rows = await oddRowsAfter({ session, driver }, last, callsAtOnce);
    const learned = new Map<string, (readonly Cell[])[]>();
    for (const row of rowsOf(rows)) {
      const account = String(row.values[0]);
      last = [account, row.key];
      const cells = learnedCells(row, columns);
      if (cells === null) continue;
      const some = learned.get(account) ?? [];
      some.push(cells);
      learned.set(account, some);
    }

    for (const [account, some] of learned) {
      const time = times.get(account) ?? (await timeOfChange(driver, session, account));
      times.set(account, time);
      await session.stage(some);
      await session.put(time, false);
    }

    if (rows.length < callsAtOnce) break;
    // SQLite works in this thread, and leaves no time for anything else by itself.
    await nextTurn();
  }

  for (const [account, time] of times) await moveOn(session, account, { time, added: 0 });
}
