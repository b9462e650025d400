import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { propertyOf } from '@call-attribution/core/errors';
import { type Call, phoneKey } from '@call-attribution/core/record';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import type { SyncState } from '@call-attribution/node-stream';
import { withoutCalls, withoutRecords } from '@call-attribution/node-stream/copies';
import { moveOn, writeHeld } from './accounts/claims.ts';
import { type RemovedCall, removedSince, timeOfChange } from './changes.ts';
import { keyOf } from './columns.ts';
import type { Driver, Remains, Session } from './database/driver.ts';
import { StoreError } from './database/errors.ts';
import { readColumns } from './read.ts';

// What was removed on purpose: the form in which it travels with copies, and keeps later syncs from
// bringing it back. The database has hashes of callers in `erased`, and the time before which an
// account has no calls in `accounts`.

/**
 * What was removed from an account on purpose, as copies and exports of its calls take it along.
 */
export interface RemovalNote {
  /**
   * Callers who were erased, an item for each copy in which they were first: HMAC-SHA256 of each
   * number in its shortest spelling, in base64url, and the key. Without it no copy could tell whose
   * call a sync brings.
   */
  readonly erased: readonly { readonly key: string; readonly callers: readonly string[] }[];
  /** Calls from before this time (`YYYY-MM-DD HH:MM:SS`) were purged; null when none were. */
  readonly purgedBefore: string | null;
}

/** What was removed from an account, ready to be asked. */
export interface Removals extends RemovalNote {
  /**
   * A removal was interrupted, so calls of it may be left. The next sync, erasure or purge of the
   * account deletes them.
   */
  readonly isUnfinished: boolean;
  /** Was this caller's number erased? It may be written in any way. */
  isErased(caller: unknown): boolean;
  /** Is this a call of an erased caller, or one from before a purge? */
  isRemoved(call: Pick<Call, 'ani' | 'date_added'>): boolean;
}

/** Settings of `erase`. */
export interface EraseOptions {
  /**
   * Called with the ids of the calls before anything of them is noted or deleted, so that other
   * files can be rid of them first: an erasure that is interrupted finds no ids afterwards.
   */
  readonly before?: ((sids: ReadonlySet<string>) => Promise<void>) | undefined;
}

/** What a purge did. */
export interface Purge {
  /** How many calls were deleted. */
  readonly deleted: number;
  /** Why bytes of them may still be in the database, as of an erasure. */
  readonly remains: readonly Remains[];
}

/** What an erasure did. */
export interface Erasure {
  /** How many calls were deleted for each number, in the order in which they were given. */
  readonly deleted: readonly number[];
  /** The ids of these calls. */
  readonly sids: readonly string[];
  /**
   * Why bytes of them may still be in the database: `vacuum`, PostgreSQL keeps them until VACUUM
   * FULL; `in_use`, another process had the file open. Empty when no byte is left.
   */
  readonly remains: readonly Remains[];
}

/**
 * What follows the name of a single file in the name of the file next to it that says what was
 * removed.
 */
export const removalsEnding = '.removals.json';

/**
 * What was removed from some accounts, as JSON for a file next to Parquet files, since whoever
 * loads these needs it. Null for nothing.
 *
 * @example
 * const text = await printRemovals(store, ['101']);
 */
export async function printRemovals(
  store: Pick<StoreRemovals, 'removals'>,
  accounts: readonly string[],
): Promise<string | null> {
  const notes: Record<string, RemovalNote> = {};
  for (const account of accounts) {
    const { erased, purgedBefore } = await store.removals(account);
    if (erased.length > 0 || purgedBefore !== null) notes[account] = { erased, purgedBefore };
  }
  return Object.keys(notes).length === 0 ? null : JSON.stringify({ removals: 1, accounts: notes });
}

/** What is remembered of an erased caller. */
const callerHash = (caller: unknown, key: string): string =>
  createHmac('sha256', key).update(phoneKey(caller)).digest('base64url');

/** Makes a note ready to be asked. */
function openRemovals({ erased, purgedBefore }: RemovalNote, isUnfinished = false): Removals {
  const sets = erased.map(({ key, callers }) => ({ key, callers: new Set(callers) }));
  const border = purgedBefore === null ? Number.NEGATIVE_INFINITY : parseNaive(purgedBefore);
  const isErased = (caller: unknown): boolean =>
    sets.some(({ key, callers }) => callers.has(callerHash(caller, key)));
  return {
    erased,
    purgedBefore,
    isUnfinished,
    isErased,
    isRemoved: ({ ani, date_added }) => parseNaive(date_added) < border || isErased(ani),
  };
}

/** Who takes the claim of a sync whose state a removal changes. */
const holder = 'An erasure or a purge';

/** Calls per transaction, so that other work of the process is not held up. */
const batch = 2_000;

/** What was erased and purged from an account. */
export async function readRemovals(
  session: Pick<Session, 'all'>,
  account: string,
): Promise<Removals> {
  const [found] = await session.all('SELECT purged_before FROM accounts WHERE account = $1', [
    account,
  ]);
  const rows = await session.all(
    'SELECT made_with, caller FROM erased WHERE account = $1 ORDER BY made_with',
    [account],
  );
  const purgedBefore = (found?.purged_before ?? null) as string | null;
  const erased: { key: string; callers: string[] }[] = [];
  for (const row of rows) {
    const key = String(row.made_with);
    const last = erased.at(-1);
    if (last?.key === key) last.callers.push(String(row.caller));
    else erased.push({ key, callers: [String(row.caller)] });
  }

  const marks = await marksOf(session, account);
  return openRemovals({ erased, purgedBefore }, marks.length > 0);
}

/** Adds to what was erased from an account, in a transaction that holds it. */
async function addErased(
  session: Session,
  account: string,
  erased: RemovalNote['erased'],
): Promise<void> {
  for (const { key, callers } of erased)
    for (const caller of callers)
      await session.run(
        'INSERT INTO erased (account, made_with, caller) VALUES ($1, $2, $3) ON CONFLICT (account, made_with, caller) DO NOTHING',
        [account, key, caller],
      );
}

/**
 * Moves the time before which an account has no calls, in a transaction that holds it. It never
 * moves back.
 */
async function setBorder(session: Session, account: string, before: string): Promise<void> {
  await session.run(
    'UPDATE accounts SET purged_before = $2 WHERE account = $1 AND (purged_before IS NULL OR purged_before < $2)',
    [account, before],
  );
}

/** What deletes calls for good, and keeps them from coming back. */
export interface StoreRemovals {
  /**
   * Deletes calls added before a time (`YYYY-MM-DD HH:MM:SS`), but none without a usable date, now
   * and in later writes.
   */
  purge(account: string, before: string): Promise<Purge>;
  /**
   * Deletes the calls of callers by their numbers, written in any way, and leaves these callers out
   * of later writes. Only keyed hashes of the numbers stay, and the sids of the calls with the time;
   * what else the database has about these calls goes, too.
   */
  erase(account: string, callers: readonly string[], options?: EraseOptions): Promise<Erasure>;
  /** What was erased and purged from an account. */
  removals(account: string): Promise<Removals>;
  /**
   * The calls that were erased, purged or removed from an account after a time, in milliseconds
   * since 1970, and have not come back: what a copy elsewhere has to delete. The view `removals` has
   * them for SQL.
   *
   * @example
   * for await (const { sid } of store.removedSince('101', last)) await deleteCopyOf(sid);
   */
  removedSince(account: string, time: number): AsyncIterable<RemovedCall>;
  /**
   * Takes over what was removed from a copy whose calls come into this account, and deletes the
   * calls of callers who were erased there. Where the account has calls from before a purge, they
   * stay. Returns the number of deleted calls.
   */
  addRemovals(account: string, note: RemovalNote): Promise<number>;
}

/**
 * Notes that a removal has begun, in the transaction that says what goes. The note is a claim of a
 * name of its own, which goes when the last call has gone: whoever finds it later finishes the work
 * of a process that was killed.
 */
async function mark(session: Session, account: string): Promise<string> {
  const name = `removal ${randomUUID()}`;
  await session.run(
    'INSERT INTO claims (account, name, token, holder, claimed_at) VALUES ($1, $2, 0, $3, 0)',
    [account, name, holder],
  );
  return name;
}

/** The removals of an account that have not come to their end. */
async function marksOf(session: Pick<Session, 'all'>, account: string): Promise<string[]> {
  const rows = await session.all(
    "SELECT name FROM claims WHERE account = $1 AND name LIKE 'removal %'",
    [account],
  );
  return rows.map(({ name }) => String(name));
}

/**
 * Ends a removal: finishes those that were interrupted, then overwrites what was deleted.
 *
 * @param own the mark of the removal.
 * @param left where bytes of what it has deleted may be left.
 */
async function settle(
  driver: Driver,
  account: string,
  own: string | null,
  left: 'anywhere' | 'in log' | 'nowhere',
): Promise<readonly Remains[]> {
  const marks = await marksOf(driver, account);
  const isInterrupted = marks.some((name) => name !== own);
  if (isInterrupted) {
    const { purgedBefore, isErased } = await driver.read((session) =>
      readRemovals(session, account),
    );
    if (purgedBefore !== null) await deleteBefore(driver, account, purgedBefore);
    await deleteCallsOf(driver, account, isErased);
  }

  const isWhole = isInterrupted || left === 'anywhere';
  const isAny = isWhole || left === 'in log';
  const remains = isAny ? await driver.overwriteDeleted(isWhole) : [];
  if (marks.length > 0)
    await driver.write(async (session) => {
      for (const name of marks)
        await session.run('DELETE FROM claims WHERE account = $1 AND name = $2', [account, name]);
    });

  return remains;
}

/** Finishes what erasures and purges of an account have left that were interrupted. */
export const finishRemovals = (driver: Driver, account: string): Promise<unknown> =>
  settle(driver, account, null, 'nowhere');

/** What was removed from a database. */
export const removalsIn = (driver: Driver): StoreRemovals => ({
  async purge(account, time) {
    // Plain JavaScript may pass anything.
    const millis = String(time).length === 19 ? parseNaive(String(time)) : Number.NaN;
    if (Number.isNaN(millis))
      throw new StoreError(
        'unfit_record',
        'The time of a purge must have the form YYYY-MM-DD HH:MM:SS.',
      );

    const before = formatNaive(millis);
    const own = await writeHeld(driver, account, async (session) => {
      await setBorder(session, account, before);
      return mark(session, account);
    });
    const deleted = await deleteBefore(driver, account, before);

    // Without any, an earlier one may have left bytes in the log, which is looked at in any case.
    const remains = await settle(driver, account, own, deleted > 0 ? 'anywhere' : 'in log');
    return { deleted, remains };
  },

  async erase(account, callers, { before } = {}) {
    const keys = callers.map((caller) => phoneKey(caller).trim());
    if (keys.length === 0 || keys.includes(''))
      throw new StoreError(
        'unfit_record',
        'Name the numbers to erase: expected text that is not empty.',
      );

    const places = new Map([...keys.entries()].reverse().map(([place, key]) => [key, place]));
    const placeOf = (caller: unknown) => places.get(phoneKey(caller));
    if (before !== undefined) {
      const { sids } = await callsOf(driver, account, (caller) => placeOf(caller) !== undefined);
      await before(sids);
    }

    const own = await writeHeld(driver, account, async (session) => {
      const { erased } = await readRemovals(session, account);
      const key = erased[0]?.key ?? randomBytes(16).toString('base64url');
      await addErased(session, account, [
        { key, callers: keys.map((caller) => callerHash(caller, key)) },
      ]);
      return mark(session, account);
    });
    const deleted = callers.map(() => 0);
    const sids = await deleteCallsOf(driver, account, (caller) => {
      const place = placeOf(caller);
      if (place !== undefined) deleted[place] = (deleted[place] ?? 0) + 1;
      return place !== undefined;
    });
    return { deleted, sids, remains: await settle(driver, account, own, 'anywhere') };
  },

  removals: (account) => driver.read((session) => readRemovals(session, account)),
  removedSince: (account, time) => removedSince(driver, account, time),

  async addRemovals(account, { erased, purgedBefore }) {
    const own = await writeHeld(driver, account, async (session) => {
      await addErased(session, account, erased);
      const name = await mark(session, account);
      if (purgedBefore === null) return name;
      const [older] = await session.all(
        'SELECT 1 AS found FROM records WHERE account = $1 AND date_added < $2 LIMIT 1',
        [account, purgedBefore],
      );
      if (older === undefined) await setBorder(session, account, purgedBefore);
      return name;
    });
    const { isErased } = openRemovals({ erased, purgedBefore: null });
    const sids = erased.length === 0 ? [] : await deleteCallsOf(driver, account, isErased);
    await settle(driver, account, own, sids.length > 0 ? 'anywhere' : 'nowhere');
    return sids.length;
  },
});

/** Deletes the calls from before a time. Returns how many. */
async function deleteBefore(driver: Driver, account: string, before: string): Promise<number> {
  let sum = 0;
  for (let deleted = batch; deleted > 0; sum += deleted)
    deleted = await writeHeld(driver, account, async (session) => {
      const rows = await session.all(
        `SELECT sid FROM records WHERE account = $1 AND date_added < $2 ORDER BY date_added, sid LIMIT ${batch}`,
        [account, before],
      );
      const keys = rows.map(({ sid }) => String(sid));
      return deleteKeys(driver, session, account, keys);
    });

  return sum;
}

/**
 * Deletes calls by key, in a transaction that holds the account. Their keys stay in `removed`, with
 * the time, so that copies elsewhere learn of it.
 */
export async function deleteKeys(
  driver: Driver,
  session: Session,
  account: string,
  keys: readonly string[],
): Promise<number> {
  const { dialect } = driver;
  const wanted = `account = $1 AND ${dialect.isIn('sid', '$2')}`;
  const list = dialect.list(keys);
  const time = await timeOfChange(driver, session, account);
  await session.run(
    `INSERT INTO removed (account, sid, removed_at)
       SELECT account, sid, ${dialect.timestamp('$3')} FROM records WHERE ${wanted}
       ON CONFLICT (account, sid) DO UPDATE SET removed_at = excluded.removed_at`,
    [account, list, time],
  );
  const deleted = await session.run(`DELETE FROM records WHERE ${wanted}`, [account, list]);
  if (deleted > 0) await moveOn(session, account, { time, added: -deleted });
  return deleted;
}

/** The ids of the calls of some callers, and those of the accounts that the API has given them. */
async function callsOf(driver: Driver, account: string, isWanted: (caller: unknown) => boolean) {
  const sids = new Set<string>();

  // A journal has entries of many accounts, by the ids that the API has given them.
  const accounts = new Set([account]);
  const fields = ['ani', 'sid', 'acct_id'];
  for await (const { columns } of readColumns(driver, account, {}, fields, undefined))
    for (const [at, ani] of (columns.ani ?? []).entries()) {
      if (!isWanted(ani)) continue;
      sids.add(String(columns.sid?.[at]));
      const owner = columns.acct_id?.[at];
      if (typeof owner === 'string') accounts.add(owner);
    }

  return { sids, accounts };
}

/**
 * Deletes the calls of some callers, with what else the database has about them. Returns their ids.
 */
async function deleteCallsOf(
  driver: Driver,
  account: string,
  isWanted: (caller: unknown) => boolean,
): Promise<string[]> {
  // No writer can add such a call any longer, so one pass over the rows finds every one.
  const found = await callsOf(driver, account, isWanted);
  const sids = [...found.sids];

  // The calls go last: a run that is killed before finds them again, and with them what else there
  // is of them.
  if (sids.length > 0) await forgetTraces(driver, account, found.sids, found.accounts);
  for (let from = 0; from < sids.length; from += batch)
    await writeHeld(driver, account, (session) =>
      deleteKeys(driver, session, account, sids.slice(from, from + batch).map(keyOf)),
    );

  return sids;
}

/**
 * Removes the ids of calls from the state of the sync, and the entries of these calls from
 * journals.
 */
async function forgetTraces(
  driver: Driver,
  account: string,
  sids: ReadonlySet<string>,
  accounts: ReadonlySet<string>,
): Promise<void> {
  await writeHeld(driver, account, async (session) => {
    await changeState(session, account, (state) => withoutRecords(state, sids));
    const lines = await session.all('SELECT name, n, line FROM journals');
    for (const { name, n, line } of lines) {
      const before = String(line);
      const now = withoutCalls(
        before,
        (sid, owner) => sids.has(sid) && (owner === null || accounts.has(owner)),
      );
      if (now !== before)
        await session.run('UPDATE journals SET line = $3 WHERE name = $1 AND n = $2', [
          String(name),
          Number(n),
          now,
        ]);
    }
  });
}

/**
 * Changes the state of the sync of an account. A sync that is under way remembers more than the
 * state: it loses its claim, and the next run goes on from the changed state.
 */
async function changeState(
  session: Session,
  account: string,
  change: (state: SyncState) => SyncState,
): Promise<void> {
  const [row] = await session.all(
    "SELECT note FROM claims WHERE account = $1 AND name = 'sync' AND note IS NOT NULL",
    [account],
  );
  if (row === undefined) return;
  const state: unknown = JSON.parse(String(row.note));
  if (!Array.isArray(propertyOf(state, 'parts'))) return;
  await session.run(
    "UPDATE claims SET token = token + 1, holder = $3, note = $2 WHERE account = $1 AND name = 'sync'",
    [account, JSON.stringify(change(state as SyncState)), holder],
  );
}
