import { formatNaive } from '@call-attribution/core/time';
import {
  nothingRemoved,
  openRemovals,
  type RemovalNote,
  type Removals,
} from '@call-attribution/node-stream/copies';
import type { Session } from '../database/driver.ts';

/** What was erased and purged from an account. */
export async function readRemovals(session: Pick<Session, 'all'>, account: string): Promise<Removals> {
  return openRemovals(await noteOf(session, account));
}

async function noteOf(session: Pick<Session, 'all'>, account: string): Promise<RemovalNote> {
  const [found] = await session.all('SELECT purged_before FROM accounts WHERE account = $1', [account]);
  const rows = await session.all(
    'SELECT made_with, caller FROM erased WHERE account = $1 ORDER BY made_with',
    [account],
  );
  const before = found?.purged_before ?? null;
  if (rows.length === 0 && before === null) return nothingRemoved;
  const erased: { key: string; callers: string[] }[] = [];
  for (const row of rows) {
    const key = String(row.made_with);
    const last = erased.at(-1);
    if (last?.key === key) last.callers.push(String(row.caller));
    else erased.push({ key, callers: [String(row.caller)] });
  }
  return { erased, purgedBefore: before === null ? null : formatNaive(Number(before) * 1000) };
}

/** Adds to what was erased from an account, in a transaction that holds it. */
export async function addErased(
  session: Session,
  account: string,
  { erased }: Pick<RemovalNote, 'erased'>,
): Promise<void> {
  await session.many(
    {
      into: 'erased',
      columns: ['account', 'made_with', 'caller'],
      otherwise: 'ON CONFLICT (account, made_with, caller) DO NOTHING',
    },
    erased.flatMap(({ key, callers }) => callers.map((caller) => ({ key, caller }))),
    ({ key, caller }) => [account, key, caller],
  );
}

/** Moves the time before which an account has no calls, in a transaction that holds it. It never moves back. */
export async function setBorder(session: Session, account: string, seconds: number): Promise<void> {
  await session.run(
    'UPDATE accounts SET purged_before = $2 WHERE account = $1 AND (purged_before IS NULL OR purged_before < $2)',
    [account, seconds],
  );
}
