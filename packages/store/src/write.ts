import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call } from '@call-attribution/core';
import { isCallExtension, isTooDeep } from '@call-attribution/core/record';
import { holdAccount, moveOn } from './accounts/claims.ts';
import { timeOfChange } from './changes.ts';
import {
  type CallRow,
  type Cell,
  columnOf,
  dateAt,
  keyOf,
  mergedRow,
  oddAt,
  recordColumns,
  rowColumns,
  rowsOf,
  standsFor,
  versionsOf,
} from './columns.ts';
import type { Driver, Session } from './database/driver.ts';
import { StoreError } from './database/errors.ts';
import { rowsOfKeys } from './read.ts';
import { deleteKeys, readRemovals } from './removals.ts';

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

const nothing: readonly null[] = Array.from(recordColumns, () => null).slice(oddAt);

/**
 * A call as a row. One without a sid is refused, because it could not be told from others, and so
 * is one nested too deep.
 */
function rowOf(account: string, given: Call): CallRow {
  const call = given as unknown as Readonly<Record<string, unknown>>;

  // A few servers send it as a number.
  const sid = typeof call.sid === 'number' ? String(call.sid) : call.sid;
  if (typeof sid !== 'string' || sid === '')
    throw new StoreError('unfit_record', 'A call does not have a sid, so it cannot be stored.');
  const key = keyOf(sid);
  const versions = versionsOf(call);
  const values: Cell[] = [account, key, isCallExtension(given) ? 1 : 0, versions, ...nothing];
  let odd: Record<string, unknown> | null = null;
  let left = 0;

  // Without a prototype, since a name may be __proto__.
  const keep = (name: string, value: unknown) => {
    if (typeof value === 'object' && value !== null && isTooDeep(value))
      throw new StoreError(
        'unfit_record',
        'A call has a value nested more than 1,000 levels deep, so it cannot be stored.',
      );

    odd ??= Object.create(null) as Record<string, unknown>;
    odd[name] = value;
  };

  for (const { name, kind, at } of rowColumns) {
    const value = call[name];
    if (value !== undefined) left += 1;
    if (value === undefined || value === null) continue;
    const cell = kind.read(name === 'sid' ? sid : value);
    values[at] = cell;
    if (!standsFor(kind, cell, value)) keep(name, value);
  }

  for (const _ in call) left -= 1;
  if (left !== 0)
    for (const name in call)
      if (!columnOf.has(name) && call[name] !== undefined) keep(name, call[name]);

  if (odd !== null) values[oddAt] = JSON.stringify(odd);
  return { key, versions, values, caller: call.ani };
}

/** Calls as rows. Throws an error that names all that cannot be stored, counted from `first`. */
export function callRows(account: string, calls: readonly Call[], first = 0): CallRow[] {
  const rows: CallRow[] = [];
  const refused: number[] = [];
  let reason: StoreError | undefined;
  for (const [index, call] of calls.entries()) {
    try {
      rows.push(rowOf(account, call));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      reason ??= error;
      refused.push(first + index);
    }
  }

  if (reason !== undefined) throw new StoreError(reason.code, reason.message, { refused });
  return rows;
}

/**
 * Upserts calls by sid, in a transaction that `hold` makes the only writer of the account. They are
 * sent to the database before that, so that others wait only while they are added.
 */
export async function writeCalls<T>(
  driver: Driver,
  session: Session,
  account: string,
  calls: readonly CallRow[],
  hold: () => Promise<T>,
): Promise<{ stored: Stored; held: T }> {
  // Of several calls with the same sid the last one wins, as if they had been written one after the
  // other.
  const batch = new Map<string, CallRow>();
  for (const call of calls) {
    const earlier = batch.get(call.key);
    batch.set(call.key, earlier === undefined ? call : mergedRow(earlier, call));
  }

  const send = () => session.stage(Array.from(batch.values(), ({ values }) => values));
  if (batch.size > 0) await send();
  const held = await hold();
  if (batch.size === 0) return { stored: { stored: 0, added: 0, changed: 0, leftOut: 0 }, held };
  const { purgedBefore, isErased } = await readRemovals(session, account);
  const unwanted: string[] = [];
  for (const { key, values, caller } of batch.values()) {
    const date = values[dateAt] ?? null;
    const isOld = purgedBefore !== null && date !== null && String(date) < purgedBefore;
    if (isOld || isErased(caller)) unwanted.push(key);
  }

  for (const key of unwanted) batch.delete(key);

  // A call that is now said to be of an erased caller was stored when it had another number.
  const time = await timeOfChange(driver, session, account);
  if (unwanted.length > 0) await deleteKeys(driver, session, account, unwanted);
  const { dialect } = driver;
  const before = await session.all(dialect.lookUp('sid, versions'), [
    account,
    dialect.list([...batch.keys()]),
  ]);
  const isMixed = ({ sid, versions }: (typeof before)[0]): boolean => {
    const now = batch.get(String(sid))?.versions;
    return now !== versions && now !== 'v2,v3';
  };
  const mixed = before.filter(isMixed).map(({ sid }) => String(sid));
  if (mixed.length > 0)
    for (const was of rowsOf(await rowsOfKeys(session, driver, account, mixed))) {
      const now = batch.get(was.key);
      if (now !== undefined) batch.set(was.key, mergedRow(was, now));
    }

  if (unwanted.length + mixed.length > 0) await send();
  const written = batch.size === 0 ? 0 : await session.put(time, before.length === 0);
  const added = batch.size - before.length;
  if (written > 0) await moveOn(session, account, { time, added });
  return {
    stored: { stored: batch.size, added, changed: written - added, leftOut: unwanted.length },
    held,
  };
}

/** Upserts any number of calls. When one cannot be read, those before it are stored. */
export async function upsertCalls(
  driver: Driver,
  account: string,
  calls: Iterable<Call> | AsyncIterable<Call>,
): Promise<Stored> {
  const sum = { stored: 0, added: 0, changed: 0, leftOut: 0 };
  let done = 0;
  let writing = Promise.resolve();

  const write = async (rows: readonly CallRow[]) => {
    const { stored } = await driver.write((session) =>
      writeCalls(driver, session, account, rows, () => holdAccount(driver, session, account)),
    );
    for (const name of ['stored', 'added', 'changed', 'leftOut'] as const)
      sum[name] += stored[name];
  };

  try {
    for await (const some of inBatches(calls, driver.writesAtOnce)) {
      // While PostgreSQL adds some, the rows of the next ones are made.
      const rows = callRows(account, some, done);
      done += some.length;
      await writing;
      writing = write(rows);
      writing.catch(() => undefined);
      // SQLite works in this thread, and what comes from memory leaves no time for anything else.
      await nextTurn();
    }
  } finally {
    await writing;
  }

  return sum;
}

async function* inBatches(
  calls: Iterable<Call> | AsyncIterable<Call>,
  size: number,
): AsyncGenerator<Call[]> {
  let some: Call[] = [];
  try {
    for await (const call of calls) {
      if (some.push(call) < size) continue;
      yield some;
      some = [];
    }
  } catch (error) {
    yield some;
    throw error;
  }

  yield some;
}
