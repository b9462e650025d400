import { propertyOf } from '@call-attribution/core/errors';
import type { Dialect, Driver, Session } from './driver.ts';
import { noStore, StoreError } from './errors.ts';
import { ownColumns } from './own-columns.ts';
import { callsView, columnComments } from './view.ts';

/** Grows with each change of the tables. */
const version = 3;

/**
 * All tables. Every key begins with the account, except in `credentials`, which are looked up before the account is known. There are
 * no sequences and triggers. A distributed PostgreSQL can therefore shard by account. A key is what the account calls something, so
 * it is compared byte by byte.
 *
 * `erased` has hashes of the numbers of erased callers, with the key that they were made with, and `purged_before` the second before
 * which an account has no calls. `records` has the JSON of each call, and in `exact` what it was when SQL cannot read it (see `plainText`); `credentials` tells
 * those that a sync reads with from those that somebody added; `claims` also has the states of syncs as their notes, and `journals` the
 * lines of append-only lists. `position` of an account grows with each change of its calls.
 */
const tables = ({ schema, key, clustered, pageColumns }: Dialect): string[] => [
  `CREATE TABLE ${schema}accounts (
     account ${key} NOT NULL PRIMARY KEY, name text NOT NULL, disabled smallint NOT NULL, purged_before bigint,
     position bigint NOT NULL DEFAULT 0)`,
  `CREATE TABLE ${schema}credentials (
     id ${key} NOT NULL PRIMARY KEY, account ${key} NOT NULL, kind text NOT NULL, secret_hash text, revoked smallint NOT NULL,
     synced smallint NOT NULL)`,
  `CREATE TABLE ${schema}records (
     account ${key} NOT NULL, sid ${key} NOT NULL, at bigint NOT NULL, talk integer NOT NULL, extension smallint NOT NULL,
     caller ${key}, versions text NOT NULL, v3_length integer, ${ownColumns.map(({ name, type }) => `${name} ${type}`).join(', ')},
     unknown json, record json NOT NULL, exact text, PRIMARY KEY (account, sid))`,
  `CREATE INDEX ${schema}records_page ON records (account, at, sid, talk, extension${pageColumns})`,
  `CREATE INDEX ${schema}records_caller ON records (account, caller, at, sid)`,
  `CREATE INDEX ${schema}records_date ON records (date_added)`,
  `CREATE VIEW ${schema}calls AS ${callsView}`,
  `CREATE TABLE ${schema}tally (
     account ${key} NOT NULL, level smallint NOT NULL, bucket bigint NOT NULL, extension smallint NOT NULL,
     talk integer NOT NULL, n bigint NOT NULL, PRIMARY KEY (account, level, extension, talk, bucket)) ${clustered}`,
  `CREATE TABLE ${schema}sms_numbers (
     account ${key} NOT NULL, number ${key} NOT NULL, sms_enabled text NOT NULL, url text NOT NULL, PRIMARY KEY (account, number))`,
  `CREATE TABLE ${schema}erased (
     account ${key} NOT NULL, made_with ${key} NOT NULL, caller ${key} NOT NULL, PRIMARY KEY (account, made_with, caller))`,
  `CREATE TABLE ${schema}claims (
     account ${key} NOT NULL, name ${key} NOT NULL, token bigint NOT NULL, holder text NOT NULL, claimed_at bigint NOT NULL,
     commits bigint NOT NULL DEFAULT 0, note text, noted_at bigint, PRIMARY KEY (account, name))`,
  `CREATE TABLE ${schema}journals (
     name ${key} NOT NULL, n bigint NOT NULL, line text NOT NULL, PRIMARY KEY (name, n)) ${clustered}`,
];

/** Errors that occur when another process makes the tables at the same moment. The next attempt finds the work done. */
const sameMoment = new Set(['23505', '42P07', '42P01']);

/** Makes the tables of a new store. Several processes may do so at the same time. Refuses a store with tables of another version. */
export async function makeTables(driver: Driver, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await versionOf(driver);
    if (found === version) return;
    if (found !== null) throw otherVersion(found, name);
    try {
      await driver.write(makeAll(driver.dialect), { isSlow: true });
    } catch (error) {
      const code = propertyOf(propertyOf(error, 'cause'), 'code');
      if (attempt >= 5 || !sameMoment.has(String(code))) throw error;
      await new Promise((done) => setTimeout(done, 20 * attempt));
    }
  }
}

/** Refuses what is not a store of this version. Makes nothing. */
export async function needTables(driver: Driver, name: string): Promise<void> {
  const found = await versionOf(driver);
  if (found === null) throw noStore(name);
  if (found !== version) throw otherVersion(found, name);
}

const makeAll = (dialect: Dialect) => async (session: Session) => {
  await session.run(
    `CREATE TABLE IF NOT EXISTS ${dialect.schema}meta (id smallint NOT NULL PRIMARY KEY, version integer NOT NULL)`,
  );
  await session.run('INSERT INTO meta (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING');
  const [row] = await session.all(`SELECT version FROM meta WHERE id = 1 ${dialect.lock}`);
  if (Number(row?.version) !== 0) return;
  for (const statement of tables(dialect)) await session.run(statement);
  for (const [column, meaning] of dialect.hasComments ? columnComments : [])
    await session.run(`COMMENT ON COLUMN calls."${column}" IS '${meaning.replaceAll("'", "''")}'`);
  await session.run('UPDATE meta SET version = $1 WHERE id = 1', [version]);
};

/** The version of the database; null when it is not a store yet. */
async function versionOf(driver: Driver): Promise<number | null> {
  try {
    const [row] = await driver.all('SELECT version FROM meta WHERE id = 1');
    return row === undefined ? null : Number(row.version);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'store_failed') return null;
    throw error;
  }
}

const otherVersion = (found: number, name: string): StoreError =>
  new StoreError('store_url', {
    message: `The tables of ${name} are of version ${found}; this release reads version ${version}.`,
    hint: `Fill a new store: calls sync --store sqlite:new.db, or export from this one with the release that wrote it and import there.`,
  });
