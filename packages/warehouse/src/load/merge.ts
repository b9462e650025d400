import type { Removals } from '@call-attribution/node-stream/copies';
import type { Session } from '../file/session.ts';
import { literal, quoted } from '../tables/columns.ts';
import { csvOptions, keyColumns, stagedColumns } from '../tables/row-writer.ts';
import { callerSql, readRemovals } from './removed.ts';
import type { Commit, Staged } from './staging.ts';

/** What a merge did. */
export interface Merged {
  /** Calls stored: new, changed, or as they were. */
  readonly stored: number;
  /** Calls that were new. */
  readonly added: number;
  /** Calls that replaced an earlier form of themselves. */
  readonly changed: number;
  /** Calls left out because their caller was erased, or because they are from before a purge. */
  readonly leftOut: number;
}

/** Nothing was stored. */
export const nothingMerged: Merged = { stored: 0, added: 0, changed: 0, leftOut: 0 };

/** What two merges did together. */
export function bothMerged(a: Merged, b: Merged): Merged {
  return {
    stored: a.stored + b.stored,
    added: a.added + b.added,
    changed: a.changed + b.changed,
    leftOut: a.leftOut + b.leftOut,
  };
}

/** Calls to store, as a table in SQL with the columns of a staged line. No `sid` is in it twice. */
export interface Source {
  readonly sql: string;
  /** The same calls in the same order with the columns that decide about them, where these can be read alone. */
  readonly keys: string;
  /** How many there are; null when they have to be counted. */
  readonly records: number | null;
}

/** The staged lines of an account as a table. */
export function stagedSource({ file, keys, records, longest }: Staged): Source {
  const reading = (path: string, columns?: typeof keyColumns): string =>
    `read_csv(${literal(path)}, ${csvOptions(longest, columns)})`;
  const sql = reading(file);
  return { sql, keys: keys === null ? sql : reading(keys, keyColumns), records };
}

const names = stagedColumns.map(({ name }) => quoted(name)).join(', ');
const prefixed = stagedColumns.map(({ name }) => `line.${quoted(name)}`).join(', ');

/** Stores calls and the state of their sync in one transaction. A call replaces the one with its `sid` in the account. */
export async function merge(
  session: Session,
  account: string,
  source: Source,
  commit: Commit | undefined,
  now: number,
): Promise<Merged> {
  return session.transaction(async () => {
    await ensureAccount(session, account);
    const removals = await readRemovals(session, account);
    const merged =
      source.records !== 0 ? await store(session, account, source, removals, now) : nothingMerged;
    if (commit !== undefined) await saveState(session, account, commit);
    if (merged.stored > 0 || merged.leftOut > 0) await refreshAccount(session, account);
    return merged;
  });
}

async function store(
  session: Session,
  account: string,
  source: Source,
  removals: Removals,
  now: number,
): Promise<Merged> {
  // What decides about a call, in a narrow table that fits in memory; the wide rows are read and written only once.
  await session.run(
    `CREATE OR REPLACE TEMP TABLE batch AS SELECT row_number() OVER () AS place, sid, caller_key, date_added,
       CASE WHEN caller_key IS NULL THEN ani END AS odd_number FROM ${source.keys}`,
  );
  const records = source.records ?? (await countOf(session, 'SELECT count(*) AS n FROM batch'));
  const leftOut = await dropRemoved(session, removals);
  await session.run(
    `CREATE OR REPLACE TEMP TABLE replaced AS SELECT rowid AS r, caller_key, is_first FROM records
      WHERE account = $1 AND sid IN (SELECT sid FROM batch)`,
    [account],
  );
  const same = await rememberContents(session);
  // A call that is now said to be of an erased caller was stored when it had another number.
  if (leftOut > 0)
    await session.run(
      'INSERT INTO replaced SELECT rowid, caller_key, is_first FROM records WHERE account = $1 AND sid IN (SELECT sid FROM dropped)',
      [account],
    );
  await session.run('DELETE FROM records WHERE rowid IN (SELECT r FROM replaced)');
  await numberCallers(session);
  await markFirstCalls(session, account);
  // What is added to the wide rows meets them by their place, which takes a fraction of the work of a join by value.
  await session.run(
    `CREATE OR REPLACE TEMP TABLE added AS SELECT sid, no, sid IN (SELECT sid FROM first_in_batch) AS is_first
       FROM range(1, $1::BIGINT + 1) places(place) LEFT JOIN batch USING (place) LEFT JOIN numbers USING (caller_key) ORDER BY place`,
    [records],
  );
  const loadedAt = await loadTime(session, now);
  const stored = await session.run(
    `INSERT INTO records (${names}, account, caller_no, is_first, loaded_at)
       SELECT ${prefixed}, $1, added.no, CASE WHEN added.sid = line.sid THEN added.is_first ELSE error('a line out of place') END,
         ${loadedAt}
       FROM ${source.sql} line POSITIONAL JOIN added WHERE added.sid IS NOT NULL`,
    [account],
  );
  const { replaced, unchanged } = await same(account, loadedAt);
  return { stored, added: stored - replaced, changed: replaced - unchanged, leftOut };
}

const contents = `hash(${names})`;

/** Remembers what the calls that are about to be replaced have. The returned function says, after that, how many have the same. */
async function rememberContents(
  session: Session,
): Promise<(account: string, loadedAt: string) => Promise<{ replaced: number; unchanged: number }>> {
  const replaced = await countOf(session, 'SELECT count(*) AS n FROM replaced');
  if (replaced === 0) return async () => ({ replaced, unchanged: 0 });
  await session.run(
    `CREATE OR REPLACE TEMP TABLE earlier AS SELECT sid, ${contents} AS contents FROM records
      WHERE rowid IN (SELECT r FROM replaced)`,
  );
  return async (account, loadedAt) => {
    const unchanged = await countOf(
      session,
      `SELECT count(*) AS n FROM earlier JOIN (
         SELECT sid, ${contents} AS contents FROM records
          WHERE account = $1 AND loaded_at = ${loadedAt} AND sid IN (SELECT sid FROM earlier)) USING (sid, contents)`,
      [account],
    );
    return { replaced, unchanged };
  };
}

const countOf = async (session: Session, sql: string, values: readonly string[] = []): Promise<number> =>
  Number((await session.one(sql, values)).n);

/** Takes the calls of erased callers, and those from before a purge, out of the batch. Their sids are then in `dropped`. */
async function dropRemoved(session: Session, { note, isErased }: Removals): Promise<number> {
  const { erased, purgedBefore } = note;
  if (erased.length === 0 && purgedBefore === null) return 0;
  const caller = callerSql('odd_number');
  const callers =
    erased.length === 0 ? [] : await session.all(`SELECT DISTINCT ${caller} AS caller FROM batch`);
  const unwanted = callers.map((row) => String(row.caller)).filter(isErased);
  const where = `date_added < $1::TIMESTAMP OR ${caller} IN (SELECT unnest(from_json($2, '["VARCHAR"]')))`;
  const values = [purgedBefore, JSON.stringify(unwanted)];
  await session.run(`CREATE OR REPLACE TEMP TABLE dropped AS SELECT sid FROM batch WHERE ${where}`, values);
  return session.run(`DELETE FROM batch WHERE sid IN (SELECT sid FROM dropped)`);
}

/**
 * Gives each new caller the next number, and puts the numbers of the callers of the batch into `numbers`. Small whole
 * numbers without gaps let different callers be counted in a bitmap.
 */
async function numberCallers(session: Session): Promise<void> {
  await session.run(
    'CREATE OR REPLACE TEMP TABLE batch_callers AS SELECT DISTINCT caller_key FROM batch WHERE caller_key IS NOT NULL',
  );
  await session.run(
    `INSERT INTO callers SELECT caller_key, coalesce((SELECT max(no) + 1 FROM callers), 0) + row_number() OVER () - 1
       FROM batch_callers ANTI JOIN callers USING (caller_key)`,
  );
  await session.run(
    'CREATE OR REPLACE TEMP TABLE numbers AS SELECT caller_key, no FROM callers SEMI JOIN batch_callers USING (caller_key)',
  );
}

/**
 * Keeps `is_first` true: exactly one call of each caller, the earliest by time and `sid`, has it. Looks at the callers
 * of the batch, and at those that lost their first call to it, and says in `first_in_batch` which new calls get the mark.
 */
async function markFirstCalls(session: Session, account: string): Promise<void> {
  await session.run(
    `CREATE OR REPLACE TEMP TABLE affected AS
       SELECT caller_key FROM batch_callers
       UNION SELECT caller_key FROM replaced WHERE is_first`,
  );
  await session.run(
    `CREATE OR REPLACE TEMP TABLE present AS SELECT rowid AS r, sid, date_added, caller_key, is_first FROM records
      WHERE account = $1 AND caller_key IN (SELECT caller_key FROM affected)`,
    [account],
  );
  await session.run(
    `CREATE OR REPLACE TEMP TABLE firsts AS
       SELECT min({'d': coalesce(date_added, 'infinity'::TIMESTAMP), 's': sid, 'r': r}) AS f FROM (
         SELECT r, sid, date_added, caller_key FROM present
         UNION ALL SELECT NULL, sid, date_added, caller_key FROM batch WHERE caller_key IS NOT NULL)
       GROUP BY caller_key`,
  );
  await session.run(
    'CREATE OR REPLACE TEMP TABLE first_in_batch AS SELECT f.s AS sid FROM firsts WHERE f.r IS NULL',
  );
  await session.run(
    `UPDATE records SET is_first = NOT is_first WHERE rowid IN (
       SELECT r FROM present WHERE is_first <> (r IN (SELECT f.r FROM firsts WHERE f.r IS NOT NULL)))`,
  );
}

/** When the calls of this merge were loaded: later than all before, so that one can ask what changed since a moment. */
async function loadTime(session: Session, now: number): Promise<string> {
  const { last } = await session.one('SELECT epoch_us(max(loaded_at))::VARCHAR AS last FROM records');
  const micros = BigInt(now) * 1000n;
  const latest = last === null ? 0n : BigInt(String(last));
  return `make_timestamp(${micros > latest ? micros : latest + 1n})`;
}

async function saveState(session: Session, account: string, { state, isLast, at }: Commit): Promise<void> {
  // Calls that a killed process left staged may be stored days later: what counts is when they came.
  const saved = `make_timestamp(${Number(at)}::BIGINT * 1000)`;
  const [before] = await session.all('SELECT 1 FROM sync_state WHERE account = $1', [account]);
  const finished = isLast ? `finished_at = ${saved}, ` : '';
  const finishedAt = isLast ? saved : 'NULL';
  const sql =
    before === undefined
      ? `INSERT INTO sync_state (account, state, saved_at, finished_at) VALUES ($1, $2, ${saved}, ${finishedAt})`
      : `UPDATE sync_state SET state = $2, ${finished}saved_at = ${saved} WHERE account = $1`;
  await session.run(sql, [account, JSON.stringify(state)]);
}

/** Adds an account that is new. */
export async function ensureAccount(session: Session, account: string): Promise<void> {
  await session.run(
    'INSERT INTO accounts (account, calls) SELECT $1, 0 WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE account = $1)',
    [account],
  );
}

/** Counts the calls of an account again, so that no question has to. */
export async function refreshAccount(session: Session, account: string): Promise<void> {
  await session.run(
    `UPDATE accounts SET calls = r.calls, first_call = r.first_call, last_call = r.last_call, stored_at = r.stored_at
       FROM (SELECT count(*) AS calls, min(date_added) AS first_call, max(date_added) AS last_call, max(loaded_at) AS stored_at
               FROM records WHERE account = $1) r WHERE accounts.account = $1`,
    [account],
  );
}
