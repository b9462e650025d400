import { formatNaive } from '@call-attribution/core/time';
import type { Driver, Session } from '../database/driver.ts';
import { setBorder } from '../rows/removed.ts';
import { levels } from '../rows/tally.ts';
import { anyTalk, noTime } from '../rows/wire-values.ts';
import { deleteKeys, holdAccount } from '../rows/write.ts';

/** A wrong count, found by `check`. */
export interface TallyFault {
  /** Id of the account. */
  readonly account: string;
  /** The level of the counts: 25 (388 days), 21 (24 days) or 17 (36 hours). */
  readonly level: number;
  /** The sum of the counts that are wrong. */
  readonly tally: number;
  /** The number of calls that they should have counted. */
  readonly calls: number;
}

/** Reads all calls of an account or of the store. */
const slow = { isSlow: true };

/** What the counts of a level should be: a cell for each talk value, and one for all of them together. */
const cells = (level: number, owner: string): string => {
  const count = (talk: string, groups: string) =>
    `SELECT account, ${level} AS level, at >> ${level} AS bucket, extension, ${talk} AS talk, count(*) AS n
       FROM records ${owner} GROUP BY account, at >> ${level}, extension${groups}`;
  return `${count('talk', ', talk')} UNION ALL ${count(String(anyTalk), '')}`;
};

/** Compares every count with the calls. */
export async function checkTally(driver: Driver): Promise<TallyFault[]> {
  return driver.read(async (session) => {
    const faults: TallyFault[] = [];
    for (const level of levels) {
      const rows = await session.all(
        `SELECT account, sum(kept) AS kept, sum(found) AS found FROM (
           SELECT account, bucket, extension, talk, sum(kept) AS kept, sum(found) AS found FROM (
             SELECT account, bucket, extension, talk, n AS kept, 0 AS found FROM tally WHERE level = ${level}
             UNION ALL SELECT account, bucket, extension, talk, 0 AS kept, n AS found FROM (${cells(level, '')}) counted
           ) both_sides GROUP BY account, bucket, extension, talk HAVING sum(kept) <> sum(found)
         ) unequal GROUP BY account ORDER BY account`,
      );
      for (const row of rows) {
        faults.push({
          account: String(row.account),
          level,
          tally: Number(row.kept),
          calls: Number(row.found),
        });
      }
    }
    return faults;
  }, slow);
}

/** Counts all calls of an account again. */
export async function rebuildTally(driver: Driver, account: string): Promise<void> {
  await driver.write(async (session) => {
    await holdAccount(driver, session, account);
    await session.run('DELETE FROM tally WHERE account = $1', [account]);
    for (const level of levels) {
      await session.run(
        `INSERT INTO tally (account, level, bucket, extension, talk, n) ${cells(level, 'WHERE account = $1')}`,
        [account],
      );
    }
  }, slow);
}

/**
 * Deletes the calls added before a time, but none without a usable date, some thousand per transaction, and keeps later writes from adding
 * any. Returns the number of deleted calls.
 */
export async function purgeBefore(driver: Driver, account: string, before: number): Promise<number> {
  await driver.write(async (session) => {
    await holdAccount(driver, session, account);
    await setBorder(session, account, before);
  });
  let purged = 0;
  for (;;) {
    const deleted = await driver.write(async (session) => {
      await holdAccount(driver, session, account);
      const rows = await session.all(
        'SELECT sid FROM records WHERE account = $1 AND at > $3 AND at < $2 ORDER BY at, sid LIMIT 2000',
        [account, before, noTime],
      );
      if (rows.length === 0) await dropEmptyCells(session, account);
      return deleteKeys(
        driver,
        session,
        account,
        rows.map((row) => String(row.sid)),
      );
    });
    purged += deleted;
    if (deleted === 0) break;
  }
  if (purged > 0) await driver.scrub(false);
  return purged;
}

async function dropEmptyCells(session: Session, account: string): Promise<void> {
  await session.run('DELETE FROM tally WHERE account = $1 AND n = 0', [account]);
}

/** The size and age of an account. */
export interface AccountSize {
  /** Id of the account. */
  readonly account: string;
  /** The number of calls. */
  readonly calls: number;
  /** `date_added` of the first call; null for an empty account. */
  readonly oldest: string | null;
  /** `date_added` of the last call; null for an empty account. */
  readonly newest: string | null;
  /** The size of the records in bytes, as they are stored: estimated from up to 500 of them. */
  readonly documentBytes: number;
  /** When the last sync was committed, in milliseconds since 1970; null when there was none. */
  readonly syncedAt: number | null;
}

/** Sizes and ages per account, and the bytes of the whole database. */
export async function measureStore(driver: Driver): Promise<{ bytes: number; accounts: AccountSize[] }> {
  return driver.read(async (session) => {
    const accounts: AccountSize[] = [];
    const rows = await session.all('SELECT account FROM accounts ORDER BY account');
    for (const row of rows) accounts.push(await measureAccount(session, String(row.account)));
    const [size] = await session.all(driver.dialect.sizeQuery);
    return { bytes: Number(size?.bytes ?? 0), accounts };
  });
}

async function measureAccount(session: Session, account: string): Promise<AccountSize> {
  const one = async (sql: string) => (await session.all(sql, [account]))[0];
  const coarsest = levels[0];
  const count = await one(
    `SELECT sum(n) AS n FROM tally WHERE account = $1 AND level = ${coarsest} AND talk = ${anyTalk}`,
  );
  const ages = await one(
    `SELECT (SELECT at FROM records WHERE account = $1 AND at > ${noTime} ORDER BY at LIMIT 1) AS oldest,
            (SELECT at FROM records WHERE account = $1 AND at > ${noTime} ORDER BY at DESC LIMIT 1) AS newest`,
  );
  const sample = await one(
    `SELECT avg(bytes) AS mean FROM (
       SELECT length(CAST(record AS text)) AS bytes FROM records WHERE account = $1 LIMIT 500) sample`,
  );
  const sync = await one(
    `SELECT noted_at FROM claims WHERE account = $1 AND name = 'sync' AND note IS NOT NULL`,
  );
  const calls = Number(count?.n ?? 0);
  const time = (value: unknown) =>
    value === null || value === undefined ? null : formatNaive(Number(value) * 1000);
  return {
    account,
    calls,
    oldest: time(ages?.oldest),
    newest: time(ages?.newest),
    documentBytes: Math.round(calls * Number(sample?.mean ?? 0)),
    syncedAt: sync === undefined ? null : Number(sync.noted_at),
  };
}
