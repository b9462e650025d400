import type { Removals } from '@call-attribution/node-stream/copies';
import type { Driver, Insert, Session } from '../database/driver.ts';
import { StoreError } from '../database/errors.ts';
import { type DocumentRow, document, documentIn } from './documents.ts';
import { moveOn } from './position.ts';
import { type CallRow, columns, mergedRow } from './record.ts';
import { keyOf } from './record-key.ts';
import { readRemovals } from './removed.ts';
import { type Cell, differences, type TallyKey } from './tally.ts';
import { noTime, secondsOf } from './wire-values.ts';

/** What became of a batch of calls. */
export interface Stored {
  /** Calls that the store now has: new ones, changed ones, and those it had in the same form. */
  readonly stored: number;
  /** Calls that were new. */
  readonly added: number;
  /** Calls that replaced an earlier form of themselves. */
  readonly changed: number;
  /** Calls left out because their caller was erased, or because they are from before a purge. */
  readonly leftOut: number;
}

/** What became of two batches together. */
export function bothStored(a: Stored, b: Stored): Stored {
  return {
    stored: a.stored + b.stored,
    added: a.added + b.added,
    changed: a.changed + b.changed,
    leftOut: a.leftOut + b.leftOut,
  };
}

/** Nothing was written. */
export const nothingStored: Stored = { stored: 0, added: 0, changed: 0, leftOut: 0 };

/** Makes this transaction the only writer of the account. */
export async function holdAccount(driver: Driver, session: Session, account: string): Promise<void> {
  const [row] = await session.all(`SELECT account FROM accounts WHERE account = $1 ${driver.dialect.lock}`, [
    account,
  ]);
  if (row === undefined) {
    throw new StoreError(
      'unknown_account',
      `The store has no account ${account}. Add it first: calls store accounts add --account ${account}.`,
    );
  }
}

const intoRecords: Insert = { into: 'records', columns: ['account', ...columns] };
const update = `UPDATE records SET ${columns
  .slice(1)
  .map((column, i) => `${column} = $${i + 3}`)
  .join(', ')} WHERE account = $1 AND sid = $2`;

/** Upserts calls by sid, in a transaction that holds the account. Rows and counts change in the same transaction. */
export async function writeCalls(
  driver: Driver,
  session: Session,
  account: string,
  calls: readonly CallRow[],
): Promise<Stored> {
  if (calls.length === 0) return nothingStored;
  const { batch, unwanted, leftOut } = sifted(calls, await readRemovals(session, account));
  // A call that is now said to be of an erased caller was stored when it had another number.
  if (unwanted.size > 0) await deleteKeys(driver, session, account, [...unwanted]);
  if (batch.size === 0) return { stored: 0, added: 0, changed: 0, leftOut };
  const before = await rowsOf(driver, session, account, [...batch.keys()]);
  const added: CallRow[] = [];
  const changed: { was: Before; now: CallRow }[] = [];
  for (const call of batch.values()) {
    const was = before.get(call.key);
    if (was === undefined) {
      added.push(call);
      continue;
    }
    const now = mergedRow(was, call);
    // A call that is the same as before is not written again.
    if (now.text !== was.text || now.versions !== was.versions) changed.push({ was, now });
  }
  await session.many(intoRecords, added, (row) => [account, ...row.values()]);
  for (const { now } of changed) await session.run(update, [account, ...now.values()]);
  const written = [...added, ...changed.map(({ now }) => now)];
  const replaced = changed.map(({ was }) => was);
  await addCells(session, account, differences(written, replaced));
  if (written.length > 0) await moveOn(session, account);
  const others = changed.filter(({ was, now }) => was.text !== now.text);
  return { stored: batch.size, added: added.length, changed: others.length, leftOut };
}

/** The calls of a batch by key, and the keys of those that were erased or purged. */
function sifted(calls: readonly CallRow[], removals: Removals) {
  const border = removals.purgedBefore === null ? noTime : (secondsOf(removals.purgedBefore) ?? noTime);
  const isRemoved = (call: CallRow): boolean =>
    (call.at > noTime && call.at < border) || (removals.erasedCallers > 0 && removals.isErased(call.caller));
  // Of several calls with the same sid the last one wins, as if they had been written one after the other.
  const batch = new Map<string, CallRow>();
  const unwanted = new Set<string>();
  let leftOut = 0;
  for (const call of calls) {
    if (isRemoved(call)) {
      leftOut += 1;
      unwanted.add(call.key);
      batch.delete(call.key);
    } else {
      const earlier = batch.get(call.key);
      batch.set(call.key, earlier === undefined ? call : mergedRow(earlier, call));
      unwanted.delete(call.key);
    }
  }
  return { batch, unwanted, leftOut };
}

/** Deletes calls by sid, in a transaction that holds the account. */
export function deleteCalls(
  driver: Driver,
  session: Session,
  account: string,
  sids: readonly string[],
): Promise<number> {
  return deleteKeys(driver, session, account, sids.map(keyOf));
}

/** Deletes calls by key, in a transaction that holds the account. */
export async function deleteKeys(
  driver: Driver,
  session: Session,
  account: string,
  keys: readonly string[],
): Promise<number> {
  // A key that is given twice is one call and is subtracted once.
  const unique = [...new Set(keys)];
  const before = await rowsOf(driver, session, account, unique);
  await session.run(`DELETE FROM records WHERE account = $1 AND ${driver.dialect.isIn('sid', '$2')}`, [
    account,
    driver.dialect.list(unique),
  ]);
  await addCells(session, account, differences([], [...before.values()]));
  if (before.size > 0) await moveOn(session, account);
  return before.size;
}

/** A row as it was before a write. */
interface Before extends TallyKey, DocumentRow {}

async function rowsOf(
  driver: Driver,
  session: Session,
  account: string,
  keys: readonly string[],
): Promise<Map<string, Before>> {
  const rows = await session.all(driver.dialect.lookUp(`sid, at, talk, extension, ${document}`), [
    account,
    driver.dialect.list(keys),
  ]);
  return new Map(
    rows.map((row) => [
      String(row.sid),
      { at: Number(row.at), talk: Number(row.talk), extension: Number(row.extension), ...documentIn(row) },
    ]),
  );
}

async function addCells(session: Session, account: string, cells: readonly Cell[]): Promise<void> {
  await session.many(
    {
      into: 'tally',
      columns: ['account', 'level', 'extension', 'talk', 'bucket', 'n'],
      otherwise:
        'ON CONFLICT (account, level, extension, talk, bucket) DO UPDATE SET n = tally.n + excluded.n',
    },
    cells,
    (c) => [account, c.level, c.extension, c.talk, c.bucket, c.n],
  );
}
