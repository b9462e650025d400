import { propertyOf } from '@call-attribution/core/errors';
import { phoneKey } from '@call-attribution/core/record';
import type { SyncState } from '@call-attribution/node-stream';
import {
  callerHash,
  type Erasure,
  newRemovalKey,
  openRemovals,
  type RemovalNote,
  withoutCalls,
  withoutRecords,
} from '@call-attribution/node-stream/copies';
import type { Driver, Session } from '../database/driver.ts';
import { StoreError } from '../database/errors.ts';
import { document, documentIn } from '../rows/documents.ts';
import { addErased, readRemovals, setBorder } from '../rows/removed.ts';
import { noTime, secondsOf } from '../rows/wire-values.ts';
import { deleteKeys, holdAccount } from '../rows/write.ts';

/** Calls per transaction, so that other work of the process is not held up. */
const batch = 2_000;

/**
 * Deletes all calls of some callers, remembers hashes of their numbers, so that later syncs leave them out, and removes every trace of
 * these calls from the database.
 */
export async function eraseCallers(
  driver: Driver,
  account: string,
  callers: readonly string[],
): Promise<Erasure> {
  const keys = callers.map((caller) => phoneKey(caller).trim());
  if (keys.length === 0 || keys.includes(''))
    throw new StoreError('unfit_record', 'Name the numbers to erase: expected text that is not empty.');
  const places = new Map([...keys.entries()].reverse().map(([place, key]) => [key, place]));
  await driver.write(async (session) => {
    await holdAccount(driver, session, account);
    const { note } = await readRemovals(session, account);
    const key = note.erased[0]?.key ?? newRemovalKey();
    await addErased(session, account, {
      erased: [{ key, callers: keys.map((caller) => callerHash(caller, key)) }],
    });
  });
  const deleted = callers.map(() => 0);
  const sids = await deleteCalls(driver, account, (caller) => {
    const place = places.get(phoneKey(caller));
    if (place !== undefined) deleted[place] = (deleted[place] ?? 0) + 1;
    return place !== undefined;
  });
  return { deleted, sids, remains: await driver.scrub(true) };
}

/**
 * Takes over what was removed from a copy whose calls come into this account. Erased callers are erased here, too. Nothing is purged:
 * where the account has calls from before the border, these and its own border stay. Returns how many calls were deleted.
 */
export async function addRemovals(
  driver: Driver,
  account: string,
  { erased, purgedBefore }: RemovalNote,
): Promise<number> {
  const border = purgedBefore === null ? null : secondsOf(purgedBefore);
  await driver.write(async (session) => {
    await holdAccount(driver, session, account);
    await addErased(session, account, { erased });
    if (border === null) return;
    const [older] = await session.all(
      'SELECT 1 AS found FROM records WHERE account = $1 AND at > $2 AND at < $3 LIMIT 1',
      [account, noTime, border],
    );
    if (older === undefined) await setBorder(session, account, border);
  });
  if (erased.length === 0) return 0;
  const { isErased } = openRemovals({ erased, purgedBefore: null });
  const sids = await deleteCalls(driver, account, isErased);
  if (sids.length > 0) await driver.scrub(true);
  return sids.length;
}

/** Deletes the calls of some callers, with what else the database has about them. Returns their ids. */
async function deleteCalls(
  driver: Driver,
  account: string,
  isWanted: (caller: unknown) => boolean,
): Promise<string[]> {
  const found = new Map<string, string>();
  // A journal has entries of many accounts, by the ids that the API has given them.
  const accounts = new Set([account]);
  // No writer can add such a call any longer, so one pass over the rows finds every one.
  for (let after = ''; ; ) {
    const rows = await driver.all(
      `SELECT sid, ${document} FROM records WHERE account = $1 AND sid > $2 ORDER BY sid LIMIT $3`,
      [account, after, batch],
    );
    for (const row of rows) {
      const { sid, ani, acct_id } = JSON.parse(documentIn(row).text) as Readonly<Record<string, unknown>>;
      if (!isWanted(ani)) continue;
      found.set(String(row.sid), String(sid));
      if (typeof acct_id === 'string') accounts.add(acct_id);
    }
    const last = rows.at(-1);
    if (rows.length < batch || last === undefined) break;
    after = String(last.sid);
  }
  // The calls go last: a run that is killed before finds them again, and with them what else there is of them.
  const sids = [...found.values()];
  if (sids.length > 0) await forgetTraces(driver, account, new Set(sids), accounts);
  const keys = [...found.keys()];
  for (let from = 0; from < keys.length; from += batch)
    await driver.write(async (session) => {
      await holdAccount(driver, session, account);
      await deleteKeys(driver, session, account, keys.slice(from, from + batch));
    });
  return sids;
}

/** Removes the ids of calls from the state of the sync, and the entries of these calls from journals. */
async function forgetTraces(
  driver: Driver,
  account: string,
  sids: ReadonlySet<string>,
  accounts: ReadonlySet<string>,
): Promise<void> {
  await driver.write(async (session) => {
    await holdAccount(driver, session, account);
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
  if (!isState(state)) return;
  await session.run(
    "UPDATE claims SET token = token + 1, holder = 'An erasure or a purge', note = $2 WHERE account = $1 AND name = 'sync'",
    [account, JSON.stringify(change(state))],
  );
}

const isState = (state: unknown): state is SyncState => Array.isArray(propertyOf(state, 'parts'));
