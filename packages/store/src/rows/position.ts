import type { Session } from '../database/driver.ts';

/** Notes that the calls of an account have changed, in a transaction that holds it. */
export async function moveOn(session: Session, account: string): Promise<void> {
  await session.run('UPDATE accounts SET position = position + 1 WHERE account = $1', [account]);
}

/** A number that has grown with each change of the calls of an account. */
export async function positionOf(session: Pick<Session, 'all'>, account: string): Promise<number> {
  const [row] = await session.all('SELECT position FROM accounts WHERE account = $1', [account]);
  return Number(row?.position ?? 0);
}
