import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import { nothingRemoved, openRemovals, type Removals } from '@call-attribution/node-stream/copies';
import type { Driver, Session } from '../database/driver.ts';
import { StoreError } from '../database/errors.ts';

/** Makes this transaction the only writer of the account. */
export async function holdAccount(driver: Driver, session: Session, account: string): Promise<void> {
  const [row] = await session.all(`SELECT account FROM accounts WHERE account = $1 ${driver.dialect.lock}`, [
    account,
  ]);
  if (row !== undefined) return;
  throw new StoreError(
    'unknown_account',
    isAccountName(account)
      ? { message: `The store has no account ${account}.`, hint: 'Add it first, with store.putAccount().' }
      : `The ID of an account is ${accountNameWords}.`,
  );
}

/** Notes that the calls of an account have changed, in a transaction that holds it. */
export async function moveOn(session: Session, account: string): Promise<void> {
  await session.run('UPDATE accounts SET revision = revision + 1 WHERE account = $1', [account]);
}

/** A number that has grown with each change of the calls of an account. */
export async function revisionOf(session: Pick<Session, 'all'>, account: string): Promise<number> {
  const [row] = await session.all('SELECT revision FROM accounts WHERE account = $1', [account]);
  return Number(row?.revision ?? 0);
}

/** What was erased and purged from an account. */
export async function readRemovals(session: Pick<Session, 'all'>, account: string): Promise<Removals> {
  const [found] = await session.all('SELECT purged_before FROM accounts WHERE account = $1', [account]);
  const rows = await session.all(
    'SELECT made_with, caller FROM erased WHERE account = $1 ORDER BY made_with',
    [account],
  );
  const purgedBefore = (found?.purged_before ?? null) as string | null;
  if (rows.length === 0 && purgedBefore === null) return openRemovals(nothingRemoved);
  const erased: { key: string; callers: string[] }[] = [];
  for (const row of rows) {
    const key = String(row.made_with);
    const last = erased.at(-1);
    if (last?.key === key) last.callers.push(String(row.caller));
    else erased.push({ key, callers: [String(row.caller)] });
  }
  return openRemovals({ erased, purgedBefore });
}
