import { createHmac, randomBytes } from 'node:crypto';
import { propertyOf } from '@call-attribution/core/errors';
import { type Call, phoneKey } from '@call-attribution/core/record';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import type { SyncState } from '@call-attribution/node-stream';
import { withoutCalls, withoutRecords } from '@call-attribution/node-stream/copies';
import { moveOn, writeHeld } from './accounts/claims.ts';
import { keyOf } from './columns.ts';
import type { Driver, Session } from './database/driver.ts';
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
  /** Was this caller's number erased? It may be written in any way. */
  isErased(caller: unknown): boolean;
  /** Is this a call of an erased caller, or one from before a purge? */
  isRemoved(call: Pick<Call, 'ani' | 'date_added'>): boolean;
}

/** What an erasure did. */
export interface Erasure {
  /** How many calls were deleted for each number, in the order in which they were given. */
  readonly deleted: readonly number[];
  /** The ids of these calls, by which other files can be searched. */
  readonly sids: readonly string[];
  /**
   * Why bytes of them may still be in the database: `vacuum`, PostgreSQL keeps them until VACUUM
   * FULL; `in_use`, another process had the file open. Empty when no byte is left.
   */
  readonly remains: readonly ('vacuum' | 'in_use')[];
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
function openRemovals({ erased, purgedBefore }: RemovalNote): Removals {
  const sets = erased.map(({ key, callers }) => ({ key, callers: new Set(callers) }));
  const border = purgedBefore === null ? Number.NEGATIVE_INFINITY : parseNaive(purgedBefore);
  const isErased = (caller: unknown): boolean =>
    sets.some(({ key, callers }) => callers.has(callerHash(caller, key)));
  return {
    erased,
    purgedBefore,
    isErased,
    isRemoved: ({ ani, date_added }) => parseNaive(date_added) < border || isErased(ani),
  };
}

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

  return openRemovals({ erased, purgedBefore });
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
   * and in later writes. Returns the number of deleted calls.
   */
  purge(account: string, before: string): Promise<number>;
  /**
   * Deletes the calls of callers by their numbers, written in any way, and leaves these callers out
   * of later writes. Only keyed hashes of the numbers stay; what else the database has about these
   * calls goes, too.
   */
  erase(account: string, callers: readonly string[]): Promise<Erasure>;
  /** What was erased and purged from an account. */
  removals(account: string): Promise<Removals>;
  /**
   * Takes over what was removed from a copy whose calls come into this account, and deletes the
   * calls of callers who were erased there. Where the account has calls from before a purge, they
   * stay. Returns the number of deleted calls.
   */
  addRemovals(account: string, note: RemovalNote): Promise<number>;
}

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
    let purged = 0;
    for (let deleted = batch; deleted > 0; purged += deleted)
      deleted = await writeHeld(driver, account, async (session) => {
        await setBorder(session, account, before);
        const rows = await session.all(
          `SELECT sid FROM records WHERE account = $1 AND date_added < $2 ORDER BY date_added, sid LIMIT ${batch}`,
          [account, before],
        );
        const keys = rows.map(({ sid }) => String(sid));
        return deleteKeys(driver, session, account, keys);
      });

    if (purged > 0) await driver.overwriteDeleted(false);
    return purged;
  },

  async erase(account, callers) {
    const keys = callers.map((caller) => phoneKey(caller).trim());
    if (keys.length === 0 || keys.includes(''))
      throw new StoreError(
        'unfit_record',
        'Name the numbers to erase: expected text that is not empty.',
      );

    await writeHeld(driver, account, async (session) => {
      const { erased } = await readRemovals(session, account);
      const key = erased[0]?.key ?? randomBytes(16).toString('base64url');
      await addErased(session, account, [
        { key, callers: keys.map((caller) => callerHash(caller, key)) },
      ]);
    });
    const places = new Map([...keys.entries()].reverse().map(([place, key]) => [key, place]));
    const deleted = callers.map(() => 0);
    const sids = await deleteCallsOf(driver, account, (caller) => {
      const place = places.get(phoneKey(caller));
      if (place !== undefined) deleted[place] = (deleted[place] ?? 0) + 1;
      return place !== undefined;
    });
    return { deleted, sids, remains: await driver.overwriteDeleted(true) };
  },

  removals: (account) => driver.read((session) => readRemovals(session, account)),

  async addRemovals(account, { erased, purgedBefore }) {
    await writeHeld(driver, account, async (session) => {
      await addErased(session, account, erased);
      if (purgedBefore === null) return;
      const [older] = await session.all(
        'SELECT 1 AS found FROM records WHERE account = $1 AND date_added < $2 LIMIT 1',
        [account, purgedBefore],
      );
      if (older === undefined) await setBorder(session, account, purgedBefore);
    });
    const { isErased } = openRemovals({ erased, purgedBefore: null });
    const sids = erased.length === 0 ? [] : await deleteCallsOf(driver, account, isErased);
    if (sids.length > 0) await driver.overwriteDeleted(true);
    return sids.length;
  },
});

/** Deletes calls by key, in a transaction that holds the account. */
export async function deleteKeys(
  { dialect }: Driver,
  session: Session,
  account: string,
  keys: readonly string[],
): Promise<number> {
  const deleted = await session.run(
    `DELETE FROM records WHERE account = $1 AND ${dialect.isIn('sid', '$2')}`,
    [account, dialect.list(keys)],
  );
  if (deleted > 0) await moveOn(session, account);
  return deleted;
}

/**
 * Deletes the calls of some callers, with what else the database has about them. Returns their ids.
 */
async function deleteCallsOf(
  driver: Driver,
  account: string,
  isWanted: (caller: unknown) => boolean,
): Promise<string[]> {
  const sids: string[] = [];

  // A journal has entries of many accounts, by the ids that the API has given them.
  const accounts = new Set([account]);

  // No writer can add such a call any longer, so one pass over the rows finds every one.
  for await (const { columns } of readColumns(
    driver,
    account,
    {},
    ['ani', 'sid', 'acct_id'],
    undefined,
  ))
    for (const [at, ani] of (columns.ani ?? []).entries()) {
      if (!isWanted(ani)) continue;
      sids.push(String(columns.sid?.[at]));
      const owner = columns.acct_id?.[at];
      if (typeof owner === 'string') accounts.add(owner);
    }

  // The calls go last: a run that is killed before finds them again, and with them what else there
  // is of them.
  if (sids.length > 0) await forgetTraces(driver, account, new Set(sids), accounts);
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
    "UPDATE claims SET token = token + 1, holder = 'An erasure or a purge', note = $2 WHERE account = $1 AND name = 'sync'",
    [account, JSON.stringify(change(state as SyncState))],
  );
}
