import { phoneKey } from '@call-attribution/core';
import { WarehouseError } from '../errors.ts';
import type { Session } from '../file/session.ts';
import { callerKey } from '../tables/caller-key.ts';
import { callerMark, refreshAccount, saltOf } from './merge.ts';

/**
 * Deletes the calls of a caller from an account and remembers a keyed hash of the number, so that no later sync brings them
 * back. The number may be written in any way. Says how many calls were deleted.
 */
export async function eraseCaller(session: Session, account: string, caller: string): Promise<number> {
  if (typeof caller !== 'string' || caller.trim() === '')
    throw new WarehouseError(
      'invalid_question',
      'Name the number of the caller to erase: expected a string that is not empty.',
    );
  return session.transaction(async () => {
    const mark = callerMark(caller, await saltOf(session, account));
    const known = await session.all('SELECT 1 FROM erased WHERE account = $1 AND caller = $2', [
      account,
      mark,
    ]);
    if (known.length === 0) await session.run('INSERT INTO erased VALUES ($1, $2)', [account, mark]);
    const erased = await deleteCalls(session, account, caller);
    await refreshAccount(session, account);
    return erased;
  });
}

async function deleteCalls(session: Session, account: string, caller: string): Promise<number> {
  const key = callerKey(caller);
  if (key !== null) {
    const where = 'caller_key = $1::BIGINT';
    const erased = await session.run(`DELETE FROM records WHERE ${where} AND account = $2`, [key, account]);
    await session.run(
      `DELETE FROM callers WHERE ${where} AND NOT EXISTS (SELECT 1 FROM records WHERE ${where})`,
      [key],
    );
    return erased;
  }
  const numbers = await session.all(
    'SELECT DISTINCT ani FROM records WHERE account = $1 AND caller_key IS NULL AND ani IS NOT NULL',
    [account],
  );
  const same = numbers.map(({ ani }) => String(ani)).filter((ani) => phoneKey(ani) === phoneKey(caller));
  return session.run(
    `DELETE FROM records WHERE account = $1 AND caller_key IS NULL AND ani IN (SELECT unnest(from_json($2, '["VARCHAR"]')))`,
    [account, JSON.stringify(same)],
  );
}

/** Who was erased from an account, so that their calls are not missing. */
export interface Removals {
  /** Callers who asked to be erased. */
  readonly erasedCallers: number;
  /** Was this caller's number erased? It may be written in any way. */
  isErased(caller: string): boolean;
}

/** Which callers were erased from an account. */
export async function readRemovals(session: Session, account: string): Promise<Removals> {
  const rows = await session.all(
    'SELECT a.salt, e.caller FROM accounts a JOIN erased e ON e.account = a.account WHERE a.account = $1',
    [account],
  );
  const marks = new Set(rows.map(({ caller }) => String(caller)));
  const salt = String(rows[0]?.salt ?? '');
  return {
    erasedCallers: marks.size,
    isErased: (caller) => marks.size > 0 && marks.has(callerMark(caller, salt)),
  };
}
