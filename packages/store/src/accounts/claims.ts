import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import type { Driver, Session } from '../database/driver.ts';
import { StoreError } from '../database/errors.ts';

/** The right to sync an account, until somebody claims it again. */
export interface Claim {
  /** Id of the account. */
  readonly account: string;
  /** The number of this claim. A later claim has a higher one. */
  readonly token: number;
  /** The note that the last holder left; null when there is none. */
  readonly note: unknown;
}

/** A note that was committed under a claim. */
export interface Note {
  /** The note. */
  readonly note: unknown;
  /** When it was committed, in milliseconds since 1970. */
  readonly notedAt: number;
}

/** Takes the claim away from whoever has it. */
export async function takeClaim(
  driver: Driver,
  account: string,
  holder: string,
  now: number,
): Promise<Claim> {
  // Claims and writes lock the account first, so that they never wait for each other in a circle.
  return writeHeld(driver, account, async (session) => {
    const [row] = await session.all(
      `INSERT INTO claims (account, name, token, holder, claimed_at) VALUES ($1, 'sync', 1, $2, $3)
         ON CONFLICT (account, name)
         DO UPDATE SET token = claims.token + 1, holder = excluded.holder, claimed_at = excluded.claimed_at, commits = 0
         RETURNING token, note`,
      [account, holder, now],
    );
    return {
      account,
      token: Number(row?.token),
      note: JSON.parse(String(row?.note ?? null)) as unknown,
    };
  });
}

/**
 * How often this process has certainly committed under a claim. The database counts, too: one that
 * has fewer commits went back to an earlier state, and with it records that the process will not
 * read again. It may have one more, of a commit whose connection broke.
 */
const commits = new WeakMap<Claim, number>();

/**
 * Throws `claim_lost` unless the claim is the latest one, which it then stays until the transaction
 * ends, and the database has all that was committed under it. Returns the number of this commit,
 * for `committed`.
 */
export async function holdClaim(driver: Driver, session: Session, claim: Claim): Promise<number> {
  const { account } = claim;
  await holdAccount(driver, session, account);
  const [row] = await session.all(
    `SELECT token, holder, commits FROM claims WHERE account = $1 AND name = 'sync' ${driver.dialect.lock}`,
    [account],
  );
  const token = Number(row?.token ?? 0);
  const count = Number(row?.commits);
  if (token > claim.token)
    throw new StoreError(
      'claim_lost',
      `${String(row?.holder)} has claimed account ${account} since, so this process stops writing. What was written until then is kept, and the next run continues from there.`,
      { isRetryable: false },
    );

  if (token < claim.token || count < (commits.get(claim) ?? 0))
    throw new StoreError(
      'claim_lost',
      `The database no longer has what this process has written to account ${account}: it was restored, or a replica that was behind took over. This process stops writing; the next run continues from what is there.`,
      { isRetryable: false },
    );

  await session.run("UPDATE claims SET commits = $2 WHERE account = $1 AND name = 'sync'", [
    account,
    count + 1,
  ]);
  return count + 1;
}

/** Notes that a commit under a claim has ended well. */
export function committed(claim: Claim, number: number): void {
  commits.set(claim, Math.max(commits.get(claim) ?? 0, number));
}

/** Writes the note of a claim, in a transaction that holds it. */
export async function putNote(
  session: Session,
  claim: Claim,
  note: unknown,
  now: number,
): Promise<void> {
  await session.run(
    "UPDATE claims SET note = $2, noted_at = $3 WHERE account = $1 AND name = 'sync'",
    [claim.account, JSON.stringify(note), now],
  );
}

/** The note of an account; null when none was committed. */
export async function readNote(driver: Driver, account: string): Promise<Note | null> {
  const [row] = await driver.all(
    "SELECT note, noted_at FROM claims WHERE account = $1 AND name = 'sync' AND note IS NOT NULL",
    [account],
  );
  return row === undefined
    ? null
    : { note: JSON.parse(String(row.note)) as unknown, notedAt: Number(row.noted_at) };
}

/** Makes this transaction the only writer of the account. */
export async function holdAccount(
  driver: Driver,
  session: Session,
  account: string,
): Promise<void> {
  const [row] = await session.all(
    `SELECT account FROM accounts WHERE account = $1 ${driver.dialect.lock}`,
    [account],
  );
  if (row !== undefined) return;
  throw new StoreError(
    'unknown_account',
    isAccountName(account)
      ? {
          message: `The store has no account ${account}.`,
          hint: 'Add it first, with store.putAccount().',
        }
      : `The ID of an account is ${accountNameWords}.`,
  );
}

/** Runs a transaction that is the only writer of an account. */
export const writeHeld = <T>(
  driver: Driver,
  account: string,
  body: (session: Session) => Promise<T>,
): Promise<T> =>
  driver.write(async (session) => {
    await holdAccount(driver, session, account);
    return body(session);
  });

/** A change of the calls of an account. */
export interface Change {
  /** When, as {@link timeOfChange} says. */
  readonly time: string;
  /** How many calls were added, less those that were deleted. */
  readonly added: number;
}

/** Notes that the calls of an account have changed, in a transaction that holds it. */
export async function moveOn(
  session: Session,
  account: string,
  { time, added }: Change,
): Promise<void> {
  await session.run(
    'UPDATE accounts SET revision = revision + 1, calls = calls + $2, changed_at = $3 WHERE account = $1',
    [account, added, time],
  );
}

/** The rows of an account, in a statement about `accounts`. */
export const countOfAccount =
  '(SELECT count(*) FROM records WHERE records.account = accounts.account)';

/** How many calls an account has. */
export interface AccountTally {
  /** Rows that are there. */
  readonly rows: number;
  /**
   * Rows that its writes have left: those that were added, less those that were deleted. Another
   * number than that of the rows was changed behind the back of the store.
   */
  readonly written: number;
}

/** Counts the calls of an account, and says how many it should have, from one snapshot. */
export async function tallyOf(driver: Driver, account: string): Promise<AccountTally> {
  const [row] = await driver.all(
    `SELECT calls, ${countOfAccount} AS found FROM accounts WHERE account = $1`,
    [account],
  );
  return { rows: Number(row?.found ?? 0), written: Number(row?.calls ?? 0) };
}

/** Notes that rows of an account are lost, and will be added again: the others count now. */
export const noteLoss = (driver: Driver, account: string): Promise<void> =>
  writeHeld(driver, account, async (session) => {
    await session.run(
      `UPDATE accounts SET calls = ${countOfAccount} WHERE account = $1 AND calls > ${countOfAccount}`,
      [account],
    );
  });

/** A number that has grown with each change of the calls of an account. */
export async function revisionOf(session: Pick<Session, 'all'>, account: string): Promise<number> {
  const [row] = await session.all('SELECT revision FROM accounts WHERE account = $1', [account]);
  return Number(row?.revision ?? 0);
}
