import type { TimeSlice } from '@call-attribution/node-stream';
import { type CopyVerdict, copyVerdict } from '@call-attribution/node-stream/copies';
import type { AccountStatus } from '@call-attribution/questions';
import { WarehouseError } from '../errors.ts';
import type { Session } from '../file/session.ts';

/** How many calls each account has, from when to when, and how fresh they are. */
export async function accountStatuses(session: Session): Promise<AccountStatus[]> {
  const rows = await session.all(
    `SELECT a.account, a.calls::VARCHAR AS calls, a.first_call::VARCHAR AS first, a.last_call::VARCHAR AS last,
        epoch_ms(greatest(a.stored_at, s.saved_at))::VARCHAR AS stored, epoch_ms(s.finished_at)::VARCHAR AS synced
       FROM accounts a LEFT JOIN sync_state s ON s.account = a.account ORDER BY a.account`,
  );
  const iso = (millis: unknown) => (millis === null ? null : new Date(Number(millis)).toISOString());
  const text = (value: unknown) => (value === null ? null : String(value));
  return rows.map(({ account, calls, first, last, stored, synced }) => ({
    account: String(account),
    calls: Number(calls),
    first: text(first),
    last: text(last),
    storedAt: iso(stored),
    syncedAt: iso(synced),
  }));
}

/** What the syncs of an account have proved of a period. The records that a state remembers besides may be many. */
export async function readVerdict(
  session: Session,
  account: string,
  period?: TimeSlice,
): Promise<CopyVerdict | null> {
  const [row] = await session.all(
    `SELECT json_extract(state, '$.parts')::VARCHAR AS parts FROM sync_state WHERE account = $1`,
    [account],
  );
  if (row === undefined) return null;
  return copyVerdict({ version: 2, account: null, parts: readState(String(row.parts), account) }, period);
}

/** The JSON of the state of a sync. Its form is checked by whoever uses it. */
export function readState(text: string, account: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text);
  } catch {
    throw new WarehouseError(
      'damaged',
      `What the syncs of the account ${account} have noted is damaged: something else than this package has written it. Name a new file and sync again.`,
    );
  }
}
