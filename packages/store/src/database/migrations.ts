import { propertyOf } from '@call-attribution/core/errors';
import type { Dialect, Driver, Session } from './driver.ts';
import { StoreError } from './errors.ts';

/** A step from one version of the schema to the next. */
export type Step = (session: Session, dialect: Dialect) => Promise<void>;

/**
 * All tables. A key is what the account calls something, so it is compared byte by byte; `erased` has hashes of the numbers of erased
 * callers, with the key that they were made with, and `purged_before` the second before which an account has no calls; `credentials` tells those that a sync reads
 * with from those that somebody added; `claims` also has the states of syncs as
 * their notes, `journals` the lines of append-only lists, and `edits` which calls the last transactions of an account changed.
 */
export const tables: Step = async (session, { schema, key, clustered }) => {
  for (const statement of [
    `CREATE TABLE ${schema}accounts (
       account ${key} NOT NULL PRIMARY KEY, name text NOT NULL, disabled smallint NOT NULL, purged_before bigint)`,
    `CREATE TABLE ${schema}credentials (
       id ${key} NOT NULL PRIMARY KEY, account ${key} NOT NULL, kind text NOT NULL, secret_hash text, revoked smallint NOT NULL,
       synced smallint NOT NULL)`,
    `CREATE TABLE ${schema}layouts (id smallint NOT NULL PRIMARY KEY, names text NOT NULL)`,
    `CREATE TABLE ${schema}calls (
       account ${key} NOT NULL, sid ${key} NOT NULL, at bigint NOT NULL, talk integer NOT NULL, extension smallint NOT NULL,
       layout smallint NOT NULL, packed text NOT NULL, PRIMARY KEY (account, sid))`,
    `CREATE INDEX ${schema}calls_page ON calls (account, at, sid, talk, extension)`,
    `CREATE TABLE ${schema}tally (
       account ${key} NOT NULL, level smallint NOT NULL, bucket bigint NOT NULL, extension smallint NOT NULL,
       talk integer NOT NULL, n bigint NOT NULL, PRIMARY KEY (account, level, extension, talk, bucket)) ${clustered}`,
    `CREATE TABLE ${schema}sms_numbers (
       account ${key} NOT NULL, number ${key} NOT NULL, sms_enabled text NOT NULL, url text NOT NULL, PRIMARY KEY (account, number))`,
    `CREATE TABLE ${schema}erased (
       account ${key} NOT NULL, made_with ${key} NOT NULL, caller ${key} NOT NULL, PRIMARY KEY (account, made_with, caller))`,
    `CREATE TABLE ${schema}claims (
       account ${key} NOT NULL, name ${key} NOT NULL, token bigint NOT NULL, holder text NOT NULL, claimed_at bigint NOT NULL,
       note text, noted_at bigint, PRIMARY KEY (account, name))`,
    `CREATE TABLE ${schema}journals (
       name ${key} NOT NULL, n bigint NOT NULL, line text NOT NULL, PRIMARY KEY (name, n)) ${clustered}`,
    `CREATE TABLE ${schema}edits (
       account ${key} NOT NULL, n bigint NOT NULL, sids text NOT NULL, PRIMARY KEY (account, n)) ${clustered}`,
  ])
    await session.run(statement);
};

/** Errors that occur when another process migrates at the same moment. The next attempt finds the work done. */
const sameMoment = new Set(['23505', '42P07', '42P01']);

/**
 * Brings the database to the version after the last step. Several processes may do so at the same time. Refuses a database of
 * a newer version.
 */
export async function migrate(driver: Driver, steps: readonly Step[]): Promise<void> {
  const newest = steps.length;
  // Most stores are up to date, and then nobody has to wait for a writer.
  if ((await versionOf(driver)) === newest) return;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await driver.write(
        async (session) => {
          await session.run(
            `CREATE TABLE IF NOT EXISTS ${driver.dialect.schema}meta (id smallint NOT NULL PRIMARY KEY, version integer NOT NULL)`,
          );
          await session.run('INSERT INTO meta (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING');
          const [row] = await session.all(`SELECT version FROM meta WHERE id = 1 ${driver.dialect.lock}`);
          const found = Number(row?.version);
          if (found > newest) throw newer(found, newest);
          for (const step of steps.slice(found)) await step(session, driver.dialect);
          if (found < newest) await session.run('UPDATE meta SET version = $1 WHERE id = 1', [newest]);
        },
        { isSlow: true },
      );
      return;
    } catch (error) {
      const code = propertyOf(propertyOf(error, 'cause'), 'code');
      if (attempt >= 5 || !sameMoment.has(String(code))) throw error;
      await new Promise((done) => setTimeout(done, 20 * attempt));
    }
  }
}

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

function newer(found: number, newest: number): StoreError {
  return new StoreError(
    'store_newer',
    `The store has schema version ${found}, but this release supports versions up to ${newest}. Install the release that wrote it, or a later one.`,
  );
}
