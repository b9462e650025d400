import { phoneKey } from '@call-attribution/core';
import type { SyncState } from '@call-attribution/node-stream';
import {
  callerHash,
  type Erasure,
  newRemovalKey,
  openRemovals,
  purgeBorder,
  type RemovalNote,
  withoutRecords,
} from '@call-attribution/node-stream/copies';
import { WarehouseError } from '../errors.ts';
import { renewFile } from '../file/renew.ts';
import type { Session } from '../file/session.ts';
import { ensureAccount, refreshAccount } from './merge.ts';
import { addErased, callerSql, readRemovals, setBorder } from './removed.ts';
import type { WarehouseSink } from './sink.ts';

/** What changing an account needs of its warehouse. */
interface ChangeHost {
  readonly path: string;
  sink(account: string): WarehouseSink;
}

/** Changes an account, and where `isDue` writes the whole file again. False when another process kept it from being replaced. */
const changed = <T>(
  { path, sink }: ChangeHost,
  account: string,
  change: (session: Session) => Promise<T>,
  isDue: (result: T) => boolean,
): Promise<{ readonly result: T; readonly isClean: boolean }> =>
  sink(account).change(async (session) => {
    const result = await session.transaction(() => change(session));
    return { result, isClean: !isDue(result) || (await renewFile(session, path)) };
  });

/**
 * Deletes the calls of some callers from an account and remembers keyed hashes of the numbers, so that no later sync brings them back. A
 * number may be written in any way.
 */
export async function eraseCallers(
  host: ChangeHost,
  account: string,
  callers: readonly string[],
): Promise<Erasure> {
  const keys = callers.map((caller) => (typeof caller === 'string' ? phoneKey(caller).trim() : ''));
  if (keys.length === 0 || keys.includes(''))
    throw new WarehouseError(
      'invalid_question',
      'Name the numbers of the callers to erase: expected strings that are not empty.',
    );
  const places = new Map([...keys.entries()].reverse().map(([place, key]) => [key, place]));
  const deleted = callers.map(() => 0);
  const erase = async (session: Session): Promise<readonly string[]> => {
    await ensureAccount(session, account);
    const { note } = await readRemovals(session, account);
    const key = note.erased[0]?.key ?? newRemovalKey();
    await addErased(session, account, {
      erased: [{ key, callers: keys.map((caller) => callerHash(caller, key)) }],
    });
    const gone = await deleteCalls(session, account, (caller) => places.has(phoneKey(caller)));
    for (const { caller } of gone) {
      const place = places.get(phoneKey(caller)) ?? 0;
      deleted[place] = (deleted[place] ?? 0) + 1;
    }
    return gone.map(({ sid }) => sid);
  };
  // Also when no call was left: an earlier run may have ended before the file was written again.
  const { result: sids, isClean } = await changed(host, account, erase, () => true);
  return { deleted, sids, remains: isClean ? [] : ['in_use'] };
}

/**
 * Takes over what was removed from a copy whose calls come into an account. Erased callers are erased here, too. Nothing is purged: where
 * the account has calls from before the border, these and its own border stay. Says how many calls were deleted.
 */
export async function addRemovals(host: ChangeHost, account: string, note: RemovalNote): Promise<number> {
  const { erased, purgedBefore } = note;
  const add = async (session: Session): Promise<number> => {
    await ensureAccount(session, account);
    await addErased(session, account, note);
    if (purgedBefore !== null) {
      const older = await session.all(
        'SELECT 1 FROM records WHERE account = $1 AND date_added < $2::TIMESTAMP LIMIT 1',
        [account, purgedBefore],
      );
      if (older.length === 0) await setBorder(session, account, purgedBefore);
    }
    if (erased.length === 0) return 0;
    const { isErased } = openRemovals({ erased, purgedBefore: null });
    return (await deleteCalls(session, account, isErased)).length;
  };
  return (await changed(host, account, add, (deleted) => deleted > 0)).result;
}

/** Deletes the calls from before a time and keeps later syncs from bringing any back. Says how many there were. */
export async function purgeCalls(host: ChangeHost, account: string, before: string): Promise<number> {
  const border = purgeBorder(before);
  if (border === null)
    throw new WarehouseError(
      'invalid_question',
      'The time of a purge must have the form YYYY-MM-DD HH:MM:SS.',
    );
  const purge = async (session: Session): Promise<number> => {
    await ensureAccount(session, account);
    await setBorder(session, account, border);
    const older = 'account = $1 AND date_added < $2::TIMESTAMP';
    await session.run(
      `CREATE OR REPLACE TEMP TABLE affected AS SELECT DISTINCT caller_key FROM records WHERE ${older} AND is_first`,
      [account, border],
    );
    const purged = await session.run(`DELETE FROM records WHERE ${older}`, [account, border]);
    await session.run(
      `UPDATE records SET is_first = true WHERE rowid IN (
         SELECT arg_min(rowid, {'d': coalesce(date_added, 'infinity'::TIMESTAMP), 's': sid}) FROM records
          WHERE account = $1 AND caller_key IN (SELECT caller_key FROM affected) GROUP BY caller_key)`,
      [account],
    );
    await afterDeleting(session, account, (state) => state);
    return purged;
  };
  return (await changed(host, account, purge, (purged) => purged > 0)).result;
}

/** Deletes the calls of some callers, with all that is known of these calls. */
async function deleteCalls(
  session: Session,
  account: string,
  isWanted: (caller: string) => boolean,
): Promise<{ readonly sid: string; readonly caller: string }[]> {
  const caller = callerSql('ani');
  const callers = await session.all(`SELECT DISTINCT ${caller} AS caller FROM records WHERE account = $1`, [
    account,
  ]);
  const wanted = callers.map((row) => String(row.caller)).filter(isWanted);
  if (wanted.length === 0) return [];
  const where = `account = $1 AND ${caller} IN (SELECT unnest(from_json($2, '["VARCHAR"]')))`;
  const values = [account, JSON.stringify(wanted)];
  const gone = await session.all(`SELECT sid, ${caller} AS caller FROM records WHERE ${where}`, values);
  await session.run(`DELETE FROM records WHERE ${where}`, values);
  const sids = new Set(gone.map((row) => String(row.sid)));
  await afterDeleting(session, account, (state) => withoutRecords(state, sids));
  return gone.map((row) => ({ sid: String(row.sid), caller: String(row.caller) }));
}

/** Removes what else there is of deleted calls: their callers, and what the sync remembers. */
async function afterDeleting(
  session: Session,
  account: string,
  change: (state: SyncState) => SyncState,
): Promise<void> {
  await session.run(
    'DELETE FROM callers WHERE NOT EXISTS (SELECT 1 FROM records WHERE records.caller_key = callers.caller_key)',
  );
  const [sync] = await session.all('SELECT state FROM sync_state WHERE account = $1', [account]);
  if (sync !== undefined) {
    const state: SyncState = JSON.parse(String(sync.state));
    await session.run('UPDATE sync_state SET state = $2 WHERE account = $1', [
      account,
      JSON.stringify(change(state)),
    ]);
  }
  await refreshAccount(session, account);
}
