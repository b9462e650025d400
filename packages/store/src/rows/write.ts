import { createHmac } from 'node:crypto';
import type { Call } from '@call-attribution/core';
import { phoneKey } from '@call-attribution/core/privacy';
import type { Driver, Session, Value } from '../database/driver.ts';
import { StoreError } from '../database/errors.ts';
import { type StoredCall, toStored } from './documents.ts';
import { type Cell, differences, type Place } from './tally.ts';

/** What became of a batch of calls. */
export interface Stored {
  /** Calls that the store now has: new ones, changed ones, and those it had in the same form. */
  readonly stored: number;
  /** Calls that were new. */
  readonly added: number;
  /** Calls that replaced an earlier form of themselves. */
  readonly changed: number;
  /** Calls left out because their caller asked to be erased. */
  readonly leftOut: number;
}

const callColumns = 'INSERT INTO calls (account, sid, at, talk, extension, common, v2, v3)';
const written = ['at', 'talk', 'extension', 'common', 'v2', 'v3'];
// A call that is the same as before is not written again.
const replaceCall = `ON CONFLICT (account, sid)
  DO UPDATE SET ${written.map((column) => `${column} = excluded.${column}`).join(', ')}
  WHERE ${written.map((column) => `calls.${column} <> excluded.${column}`).join(' OR ')}`;
const addCell =
  'ON CONFLICT (account, level, extension, talk, bucket) DO UPDATE SET n = tally.n + excluded.n';

/** Makes this transaction the only writer of the account and returns the account's salt. */
export async function holdAccount(driver: Driver, session: Session, account: string): Promise<string> {
  const [row] = await session.all(`SELECT salt FROM accounts WHERE account = $1 ${driver.dialect.lock}`, [
    account,
  ]);
  if (row === undefined) {
    throw new StoreError(
      'unknown_account',
      `The store has no account ${account}. Add it first: calls store accounts add --account ${account}.`,
    );
  }
  return String(row.salt);
}

/** Upserts calls by sid. Rows and counts change in the same transaction. */
export async function writeCalls(
  driver: Driver,
  session: Session,
  account: string,
  calls: readonly Call[],
): Promise<Stored> {
  const salt = await holdAccount(driver, session, account);
  const unwanted = await erasedCallers(session, account);
  // Of several calls with the same sid the last one wins, as if they had been written one after the other.
  const batch = new Map<string, StoredCall>();
  let leftOut = 0;
  for (const call of calls) {
    if (unwanted.size > 0 && isErased(call, salt, unwanted)) leftOut += 1;
    else {
      const stored = toStored(call);
      batch.set(stored.sid, stored);
    }
  }
  if (batch.size === 0) return { stored: 0, added: 0, changed: 0, leftOut };
  const fresh = [...batch.values()];
  const before = await placesOf(driver, session, account, [...batch.keys()]);
  const { jsonValue } = driver.dialect;
  const touched = await session.many(
    { into: callColumns, otherwise: replaceCall },
    fresh.map((c) => [
      account,
      c.sid,
      c.at,
      c.talk,
      c.extension,
      jsonValue(c.common),
      jsonValue(c.v2),
      jsonValue(c.v3),
    ]),
  );
  await addCells(session, account, differences(fresh, before));
  const added = fresh.length - before.length;
  return { stored: fresh.length, added, changed: touched - added, leftOut };
}

/** Deletes calls by sid, in a transaction that holds the account. */
export async function deleteCalls(
  driver: Driver,
  session: Session,
  account: string,
  sids: readonly string[],
): Promise<number> {
  // A sid that is given twice is one call and is subtracted once.
  const unique = [...new Set(sids)];
  const before = await placesOf(driver, session, account, unique);
  await session.run(`DELETE FROM calls WHERE account = $1 AND ${driver.dialect.isIn('sid', '$2')}`, [
    account,
    driver.dialect.list(unique),
  ]);
  await addCells(session, account, differences([], before));
  return before.length;
}

async function placesOf(
  driver: Driver,
  session: Session,
  account: string,
  sids: readonly string[],
): Promise<Place[]> {
  // CROSS JOIN makes SQLite look each sid up in the key. Without it, SQLite reads all calls of the account.
  const rows = await session.all(
    `SELECT c.at AS at, c.talk AS talk, c.extension AS extension
       FROM ${driver.dialect.listAsTable('$2')} CROSS JOIN calls c WHERE c.account = $1 AND c.sid = list.value`,
    [account, driver.dialect.list(sids)],
  );
  return rows.map((row) => ({
    at: Number(row.at),
    talk: Number(row.talk),
    extension: Number(row.extension),
  }));
}

async function addCells(session: Session, account: string, cells: readonly Cell[]): Promise<void> {
  await session.many(
    { into: 'INSERT INTO tally (account, level, extension, talk, bucket, n)', otherwise: addCell },
    cells.map((c): Value[] => [account, c.level, c.extension, c.talk, c.bucket, c.n]),
  );
}

async function erasedCallers(session: Session, account: string): Promise<ReadonlySet<string>> {
  const rows = await session.all('SELECT caller FROM erased WHERE account = $1', [account]);
  return new Set(rows.map((row) => String(row.caller)));
}

function isErased(call: Call, salt: string, unwanted: ReadonlySet<string>): boolean {
  const caller = (call as { ani?: unknown }).ani;
  return typeof caller === 'string' && unwanted.has(callerMark(caller, salt));
}

/** A caller number in the form in which it is remembered: hashed with the salt of the account. */
export function callerMark(number: string, salt: string): string {
  return createHmac('sha256', salt).update(phoneKey(number)).digest('base64url');
}
