import type { Driver, Session } from './database/driver.ts';
import { StoreError } from './database/errors.ts';

// When the calls of an account changed. Each commit that changes calls has a time of its own, which
// is taken by the only writer of the account and is later than those of all commits before it,
// whatever the clock says. So whoever has seen one of them has seen all that were earlier.

/** A call that is not in the store any more. */
export interface RemovedCall {
  /** Its sid, as the view `calls` had it. */
  readonly sid: string;
  /** When it was erased, purged or removed, in milliseconds since 1970. */
  readonly removedAt: number;
}

/** A time as the database keeps it: UTC, with milliseconds. */
export function changeText(millis: number): string {
  // Plain JavaScript may pass anything.
  if (!(Math.abs(millis) <= latest))
    throw new StoreError(
      'unfit_filter',
      'The time after which calls have changed is no number of milliseconds since 1970.',
    );
  const bounded = Math.min(Math.max(Math.floor(millis), 0), lastWritable);
  return new Date(bounded).toISOString().replace('T', ' ').slice(0, -1);
}

const latest = 8.64e15;
const lastWritable = Date.parse('9999-12-31T23:59:59.999Z');

const millisOf = (text: unknown): number | null =>
  text === null || text === undefined ? null : Date.parse(`${String(text).replace(' ', 'T')}Z`);

/** When the calls of an account changed last; null when nothing is known of it. */
export async function lastChange(
  { dialect }: Pick<Driver, 'dialect'>,
  session: Pick<Session, 'all'>,
  account: string,
): Promise<number | null> {
  const [row] = await session.all(
    `SELECT ${dialect.text('changed_at', 3)} AS last FROM accounts WHERE account = $1`,
    [account],
  );
  return millisOf(row?.last);
}

/** The time of what a transaction changes, which holds the account. */
export async function timeOfChange(
  driver: Pick<Driver, 'dialect' | 'clock'>,
  session: Pick<Session, 'all'>,
  account: string,
): Promise<string> {
  const last = (await lastChange(driver, session, account)) ?? Number.NEGATIVE_INFINITY;
  return changeText(Math.max(driver.clock.now(), last + 1));
}

/** Calls that are read at a time. */
const callsAtOnce = 2_000;

/** The calls that were removed from an account after a time, in the order of that. */
export async function* removedSince(
  driver: Driver,
  account: string,
  time: number,
): AsyncGenerator<RemovedCall> {
  let last: readonly [time: string, sid: string | null] = [changeText(time), null];
  for (;;) {
    const [at, sid] = last;
    const after = sid === null ? 'removed_at > $2' : '(removed_at, sid) > ($2, $3)';
    const rows = await driver.all(
      `SELECT ${driver.dialect.text('removed_at', 3)} AS at, sid FROM removals
        WHERE account = $1 AND ${after} ORDER BY removed_at, sid LIMIT ${callsAtOnce}`,
      sid === null ? [account, at] : [account, at, sid],
    );
    for (const row of rows) yield { sid: String(row.sid), removedAt: millisOf(row.at) ?? 0 };
    if (rows.length < callsAtOnce) return;
    last = [String(rows.at(-1)?.at), String(rows.at(-1)?.sid)];
  }
}
