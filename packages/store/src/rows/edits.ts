import type { Session } from '../database/driver.ts';

/** The calls that were written or deleted after a position. */
export interface Changes {
  /** The position after the last of them. */
  readonly position: number;
  /** Their keys, as in {@link ColumnRow}. A call that was written twice is in the list twice. */
  readonly keys: readonly string[];
}

/** Transactions whose keys are kept: a reader that follows less often has to read the account again. */
const kept = 500;

/**
 * Writes down which calls a transaction changes, so that a reader of columns can follow. The account is held, so the numbers of
 * an account are in the order of its commits.
 */
export async function noteEdits(session: Session, account: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const [row] = await session.all('SELECT max(n) AS n FROM edits WHERE account = $1', [account]);
  const n = Number(row?.n ?? 0) + 1;
  await session.run('INSERT INTO edits (account, n, sids) VALUES ($1, $2, $3)', [
    account,
    n,
    JSON.stringify(keys),
  ]);
  if (n > kept) await session.run('DELETE FROM edits WHERE account = $1 AND n <= $2', [account, n - kept]);
}

/**
 * Forgets which calls were changed: among them are some that nobody may find again. Readers that follow have to read the account again,
 * because a number is left out.
 */
export async function forgetEdits(session: Session, account: string): Promise<void> {
  const last = await positionOf(session, account);
  await session.run('DELETE FROM edits WHERE account = $1', [account]);
  await session.run('INSERT INTO edits (account, n, sids) VALUES ($1, $2, $3)', [account, last + 2, '[]']);
}

/** The position after the last change of an account. */
export async function positionOf(session: Pick<Session, 'all'>, account: string): Promise<number> {
  const [row] = await session.all('SELECT max(n) AS n FROM edits WHERE account = $1', [account]);
  return Number(row?.n ?? 0);
}

/** What changed after a position; null when that was so long ago that the keys are no longer kept. */
export async function changesSince(
  session: Pick<Session, 'all'>,
  account: string,
  position: number,
): Promise<Changes | null> {
  const rows = await session.all('SELECT n, sids FROM edits WHERE account = $1 AND n > $2 ORDER BY n', [
    account,
    position,
  ]);
  if (rows.length === 0) return { position, keys: [] };
  if (Number(rows[0]?.n) !== position + 1) return null;
  return {
    position: Number(rows.at(-1)?.n),
    keys: rows.flatMap((row) => JSON.parse(String(row.sids)) as string[]),
  };
}
