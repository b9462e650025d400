import {
  nothingRemoved,
  openRemovals,
  type RemovalNote,
  type Removals,
} from '@call-attribution/node-stream/copies';
import type { Session } from '../file/session.ts';

/** What was erased and purged from an account. */
export async function readRemovals(session: Session, account: string): Promise<Removals> {
  return openRemovals((await readNotes(session, [account])).get(account) ?? nothingRemoved);
}

/** What was removed from each of some accounts, or of all. */
export async function readNotes(
  session: Session,
  accounts?: readonly string[],
): Promise<Map<string, RemovalNote>> {
  const rows = await session.all(
    `SELECT a.account, strftime(a.purged_before, '%Y-%m-%d %H:%M:%S') AS before, e.made_with, list(e.caller ORDER BY e.caller) AS callers
       FROM accounts a LEFT JOIN erased e ON e.account = a.account GROUP BY ALL ORDER BY a.account, e.made_with`,
  );
  const notes = new Map<string, RemovalNote>();
  for (const { account, before, made_with: key, callers } of rows) {
    const name = String(account);
    if (accounts !== undefined && !accounts.includes(name)) continue;
    const erased =
      key === null || !Array.isArray(callers) ? [] : [{ key: String(key), callers: callers.map(String) }];
    notes.set(name, {
      erased: [...(notes.get(name)?.erased ?? []), ...erased],
      purgedBefore: before === null ? null : String(before),
    });
  }
  return notes;
}

/** Adds to what was erased from an account. */
export async function addErased(
  session: Session,
  account: string,
  { erased }: Pick<RemovalNote, 'erased'>,
): Promise<void> {
  for (const { key, callers } of erased)
    await session.run(
      `INSERT INTO erased SELECT $1, $2, caller FROM (SELECT DISTINCT unnest(from_json($3, '["VARCHAR"]')) AS caller)
        WHERE caller NOT IN (SELECT caller FROM erased WHERE account = $1 AND made_with = $2)`,
      [account, key, JSON.stringify(callers)],
    );
}

/** Moves the time before which an account has no calls. It never moves back. */
export async function setBorder(session: Session, account: string, before: string): Promise<void> {
  await session.run(
    `UPDATE accounts SET purged_before = $2::TIMESTAMP
      WHERE account = $1 AND (purged_before IS NULL OR purged_before < $2::TIMESTAMP)`,
    [account, before],
  );
}

/** The digits of a number, or, where there are none that count, what the API sent: of a table with `caller_key` and a column for the rest. */
export const callerSql = (rest: string): string => `coalesce(substr(caller_key::VARCHAR, 2), ${rest}, '')`;
