import type { Driver } from '../database/driver.ts';
import { callerMark, holdAccount } from '../rows/write.ts';

/** What was removed from an account on purpose, so that it is not missing. */
export interface Removals {
  /** Callers who asked to be erased. */
  readonly erasedCallers: number;
  /** Was this caller's number erased? It may be written in any way. */
  isErased(caller: string): boolean;
  /** Calls from before this time were purged; null when none were. */
  readonly purgedBefore: string | null;
}

const name = 'purge';

/** What was erased and purged from an account. */
export async function readRemovals(driver: Driver, account: string): Promise<Removals> {
  const callers = await driver.all(
    'SELECT a.salt AS salt, e.caller AS caller FROM accounts a JOIN erased e ON e.account = a.account WHERE a.account = $1',
    [account],
  );
  const marks = new Set(callers.map((row) => String(row.caller)));
  const salt = String(callers[0]?.salt ?? '');
  const [purge] = await driver.all('SELECT note FROM claims WHERE account = $1 AND name = $2', [
    account,
    name,
  ]);
  return {
    erasedCallers: marks.size,
    isErased: (caller) => marks.size > 0 && marks.has(callerMark(caller, salt)),
    purgedBefore: typeof purge?.note === 'string' ? String(JSON.parse(purge.note).before) : null,
  };
}

/** Remembers a purge: the latest time before which calls were deleted. */
export async function notePurge(driver: Driver, account: string, before: string, now: number): Promise<void> {
  await driver.write(async (session) => {
    await holdAccount(driver, session, account);
    const note = JSON.stringify({ before });
    await session.run(
      `INSERT INTO claims (account, name, token, holder, claimed_at, note, noted_at) VALUES ($1, $2, 1, 'purge', $3, $4, $3)
         ON CONFLICT (account, name) DO UPDATE SET note = excluded.note, noted_at = excluded.noted_at
         WHERE claims.note < excluded.note`,
      [account, name, now, note],
    );
  });
}
