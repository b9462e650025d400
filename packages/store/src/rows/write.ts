import type { Driver, Insert, Session, Value } from '../database/driver.ts';
import { StoreError } from '../database/errors.ts';
import { noteEdits } from './edits.ts';
import { keyOf } from './record-key.ts';
import { readRemovals } from './removed.ts';
import { callerOf, type StoredCall } from './stored-call.ts';
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

/** How rows of calls are inserted, here and when a store is brought up to date. */
const intoCalls: Insert = {
  into: 'calls',
  columns: ['account', 'sid', 'at', 'talk', 'extension', 'layout', 'packed'],
  inBytes: 'packed',
};

/** Upserts calls by sid. Rows and counts change in the same transaction. */
export async function writeCalls(
  driver: Driver,
  session: Session,
  account: string,
  calls: readonly StoredCall[],
  layout: number,
): Promise<Stored> {
  await holdAccount(driver, session, account);
  const removals = await readRemovals(session, account);
  const border = removals.purgedBefore === null ? noTime : (secondsOf(removals.purgedBefore) ?? noTime);
  const isRemoved = (call: StoredCall): boolean =>
    (call.at > noTime && call.at < border) ||
    (removals.erasedCallers > 0 && removals.isErased(callerOf(call)));
  // Of several calls with the same sid the last one wins, as if they had been written one after the other.
  const batch = new Map<string, StoredCall>();
  const unwanted = new Set<string>();
  let leftOut = 0;
  for (const call of calls) {
    if (isRemoved(call)) {
      leftOut += 1;
      unwanted.add(call.key);
      batch.delete(call.key);
    } else {
      batch.set(call.key, call);
      unwanted.delete(call.key);
    }
  }
  // A call that is now said to be of an erased caller was stored when it had another number.
  if (unwanted.size > 0) await deleteKeys(driver, session, account, [...unwanted]);
  if (batch.size === 0) return { stored: 0, added: 0, changed: 0, leftOut };
  const before = await rowsOf(driver, session, account, [...batch.keys()]);
  const added: StoredCall[] = [];
  const changed: { was: Before; now: StoredCall }[] = [];
  for (const call of batch.values()) {
    const was = before.get(call.key);
    if (was === undefined) added.push(call);
    // A call that is the same as before is not written again.
    else if (!isSame(was, call, layout)) changed.push({ was, now: call });
  }
  await session.many(
    intoCalls,
    added.map((c) => [account, c.key, c.at, c.talk, c.extension, layout, c.packed]),
  );
  for (const { now: c } of changed) {
    await session.run(
      `UPDATE calls SET at = $3, talk = $4, extension = $5, layout = $6, packed = $7 WHERE account = $1 AND sid = $2`,
      [account, c.key, c.at, c.talk, c.extension, layout, c.packed.toString()],
    );
  }
  const now = changed.map((change) => change.now);
  const was = changed.map((change) => change.was);
  await addCells(session, account, differences([...added, ...now], was));
  await noteEdits(
    session,
    account,
    [...added, ...now].map(({ key }) => key),
  );
  return { stored: batch.size, added: added.length, changed: changed.length, leftOut };
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
  await session.run(`DELETE FROM calls WHERE account = $1 AND ${driver.dialect.isIn('sid', '$2')}`, [
    account,
    driver.dialect.list(unique),
  ]);
  await addCells(session, account, differences([], [...before.values()]));
  await noteEdits(session, account, [...before.keys()]);
  return before.size;
}

/** A row as it was before a write. */
interface Before extends TallyKey {
  readonly layout: number;
  readonly packed: string;
}

function isSame(was: Before, call: StoredCall, layout: number): boolean {
  return (
    was.layout === layout &&
    was.at === call.at &&
    was.talk === call.talk &&
    was.extension === call.extension &&
    call.packed.equals(Buffer.from(was.packed))
  );
}

async function rowsOf(
  driver: Driver,
  session: Session,
  account: string,
  keys: readonly string[],
): Promise<Map<string, Before>> {
  // CROSS JOIN makes SQLite look each key up. Without it, SQLite reads all calls of the account.
  const rows = await session.all(
    `SELECT c.sid AS sid, c.at AS at, c.talk AS talk, c.extension AS extension, c.layout AS layout, c.packed AS packed
       FROM ${driver.dialect.listAsTable('$2')} CROSS JOIN calls c WHERE c.account = $1 AND c.sid = list.value`,
    [account, driver.dialect.list(keys)],
  );
  return new Map(rows.map((row) => [String(row.sid), row as unknown as Before]));
}

async function addCells(session: Session, account: string, cells: readonly Cell[]): Promise<void> {
  await session.many(
    {
      into: 'tally',
      columns: ['account', 'level', 'extension', 'talk', 'bucket', 'n'],
      otherwise:
        'ON CONFLICT (account, level, extension, talk, bucket) DO UPDATE SET n = tally.n + excluded.n',
    },
    cells.map((c): Value[] => [account, c.level, c.extension, c.talk, c.bucket, c.n]),
  );
}
