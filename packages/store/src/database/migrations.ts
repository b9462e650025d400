import type { Dialect, Driver } from './driver.ts';
import { StoreError } from './errors.ts';

/**
 * Numbered steps, forward only; a released step never changes. Every key begins with the account, except in `credentials`,
 * which are looked up before the account is known. There are no sequences and triggers. A distributed PostgreSQL can
 * therefore shard by account.
 */
const steps: readonly ((dialect: Dialect) => readonly string[])[] = [
  ({ key, json, clustered }) => [
    `CREATE TABLE accounts (
       account ${key} NOT NULL PRIMARY KEY, name text NOT NULL, disabled smallint NOT NULL, salt text NOT NULL)`,
    `CREATE TABLE credentials (
       id ${key} NOT NULL PRIMARY KEY, account ${key} NOT NULL, kind text NOT NULL, secret_hash text, revoked smallint NOT NULL)`,
    `CREATE TABLE calls (
       account ${key} NOT NULL, sid ${key} NOT NULL, at bigint NOT NULL, talk integer NOT NULL, extension smallint NOT NULL,
       common ${json} NOT NULL, v2 ${json} NOT NULL, v3 ${json} NOT NULL, PRIMARY KEY (account, sid))`,
    'CREATE INDEX calls_page ON calls (account, at, sid, talk, extension)',
    `CREATE TABLE tally (
       account ${key} NOT NULL, level smallint NOT NULL, bucket bigint NOT NULL, extension smallint NOT NULL,
       talk integer NOT NULL, n bigint NOT NULL, PRIMARY KEY (account, level, extension, talk, bucket)) ${clustered}`,
    `CREATE TABLE sms_numbers (
       account ${key} NOT NULL, number ${key} NOT NULL, sms_enabled text NOT NULL, url text NOT NULL, PRIMARY KEY (account, number))`,
    'CREATE TABLE sync_state (account text NOT NULL PRIMARY KEY, state text NOT NULL, committed_at bigint NOT NULL)',
    `CREATE TABLE erased (account ${key} NOT NULL, caller ${key} NOT NULL, PRIMARY KEY (account, caller))`,
  ],
];

/** The version that this code writes and reads. */
const schemaVersion = steps.length;

/** Errors that occur when another process migrates at the same moment. The next attempt finds the work done. */
const sameMoment = new Set(['23505', '42P07', '40001', '40P01', 'SQLITE_BUSY']);

/** Brings the database to {@link schemaVersion}. Several processes may do so at the same time. Refuses a newer database. */
export async function migrate(driver: Driver): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await driver.write(async (session) => {
        await session.run(
          'CREATE TABLE IF NOT EXISTS meta (id smallint NOT NULL PRIMARY KEY, version integer NOT NULL)',
        );
        await session.run('INSERT INTO meta (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING');
        const [row] = await session.all(`SELECT version FROM meta WHERE id = 1 ${driver.dialect.lock}`);
        const found = Number(row?.version);
        if (found > schemaVersion) throw newer(found);
        for (const step of steps.slice(found)) {
          for (const statement of step(driver.dialect)) await session.run(statement);
        }
        if (found < schemaVersion)
          await session.run('UPDATE meta SET version = $1 WHERE id = 1', [schemaVersion]);
      });
      return;
    } catch (error) {
      if (attempt >= 5 || !sameMoment.has(String((error as { code?: unknown }).code))) throw error;
      await new Promise((done) => setTimeout(done, 20 * attempt));
    }
  }
}

function newer(found: number): StoreError {
  return new StoreError(
    'store_newer',
    `The store has schema version ${found}, but this release supports versions up to ${schemaVersion}. Install the release that wrote it, or a later one.`,
  );
}
