import { propertyOf } from '@call-attribution/core/errors';
import { phoneKey } from '@call-attribution/core/record';
import type { SyncState } from '@call-attribution/node-stream';
import type { Erasure, RemovalNote, Removals } from '@call-attribution/node-stream/copies';
import {
  callerHash,
  newRemovalKey,
  openRemovals,
  purgeBorder,
  withoutCalls,
  withoutRecords,
} from '@call-attribution/node-stream/copies';
import { readRemovals, writeHeld } from './accounts/claims.ts';
import { keyOf } from './columns.ts';
import type { Driver, Session } from './database/driver.ts';
import { StoreError } from './database/errors.ts';
import { readColumns } from './read.ts';
import { everything } from './selection.ts';
import { deleteKeys } from './write.ts';

// What was erased and purged from an account: hashes of callers in `erased`, and the time before which it has no calls in `accounts`.

/** Calls per transaction, so that other work of the process is not held up. */
const batch = 2_000;

/** Adds to what was erased from an account, in a transaction that holds it. */
async function addErased(session: Session, account: string, erased: RemovalNote['erased']): Promise<void> {
  for (const { key, callers } of erased)
    for (const caller of callers)
      await session.run(
        'INSERT INTO erased (account, made_with, caller) VALUES ($1, $2, $3) ON CONFLICT (account, made_with, caller) DO NOTHING',
        [account, key, caller],
      );
}

/** Moves the time before which an account has no calls, in a transaction that holds it. It never moves back. */
async function setBorder(session: Session, account: string, before: string): Promise<void> {
  await session.run(
    'UPDATE accounts SET purged_before = $2 WHERE account = $1 AND (purged_before IS NULL OR purged_before < $2)',
    [account, before],
  );
}

/** What deletes calls for good, and keeps them from coming back. */
export interface StoreRemovals {
  /**
   * Deletes calls added before a time (`YYYY-MM-DD HH:MM:SS`), but none without a usable date, now and in later writes. Returns the number
   * of deleted calls.
   */
  purge(account: string, before: string): Promise<number>;
  /**
   * Deletes the calls of callers by their numbers, written in any way, and leaves these callers out of later writes. Only keyed hashes of
   * the numbers stay; what else the database has about these calls goes, too.
   */
  erase(account: string, callers: readonly string[]): Promise<Erasure>;
  /** What was erased and purged from an account. A copy of its calls takes `note` with it. */
  removals(account: string): Promise<Removals>;
  /**
   * Takes over what was removed from a copy whose calls come into this account, and deletes the calls of callers who were erased there.
   * Where the account has calls from before a purge, they stay. Returns the number of deleted calls.
   */
  addRemovals(account: string, note: RemovalNote): Promise<number>;
}

/** What was removed from a database. */
export const removalsIn = (driver: Driver): StoreRemovals => ({
  async purge(account, time) {
    const before = purgeBorder(time);
    if (before === null)
      throw new StoreError('unfit_record', 'The time of a purge must have the form YYYY-MM-DD HH:MM:SS.');
    let purged = 0;
    for (let deleted = batch; deleted > 0; purged += deleted)
      deleted = await writeHeld(driver, account, async (session) => {
        await setBorder(session, account, before);
        const rows = await session.all(
          `SELECT sid FROM records WHERE account = $1 AND date_added < $2 ORDER BY date_added, sid LIMIT ${batch}`,
          [account, before],
        );
        return deleteKeys(
          driver,
          session,
          account,
          rows.map(({ sid }) => String(sid)),
        );
      });
    if (purged > 0) await driver.overwriteDeleted(false);
    return purged;
  },

  async erase(account, callers) {
    const keys = callers.map((caller) => phoneKey(caller).trim());
    if (keys.length === 0 || keys.includes(''))
      throw new StoreError('unfit_record', 'Name the numbers to erase: expected text that is not empty.');
    await writeHeld(driver, account, async (session) => {
      const { note } = await readRemovals(session, account);
      const key = note.erased[0]?.key ?? newRemovalKey();
      await addErased(session, account, [{ key, callers: keys.map((caller) => callerHash(caller, key)) }]);
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

/** Deletes the calls of some callers, with what else the database has about them. Returns their ids. */
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
    everything,
    ['ani', 'sid', 'acct_id'],
    undefined,
  ))
    for (const [at, ani] of (columns.ani ?? []).entries()) {
      if (!isWanted(ani)) continue;
      sids.push(String(columns.sid?.[at]));
      const owner = columns.acct_id?.[at];
      if (typeof owner === 'string') accounts.add(owner);
    }
  // The calls go last: a run that is killed before finds them again, and with them what else there is of them.
  if (sids.length > 0) await forgetTraces(driver, account, new Set(sids), accounts);
  for (let from = 0; from < sids.length; from += batch)
    await writeHeld(driver, account, (session) =>
      deleteKeys(driver, session, account, sids.slice(from, from + batch).map(keyOf)),
    );
  return sids;
}

/** Removes the ids of calls from the state of the sync, and the entries of these calls from journals. */
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
 * Changes the state of the sync of an account. A sync that is under way remembers more than the state: it loses its claim, and the next
 * run goes on from the changed state.
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
