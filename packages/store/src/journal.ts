import {
  inUseBy,
  isRunning,
  type LockOwner,
  newOwner,
  readOwner,
} from '@call-attribution/node-stream/files';
import type { Driver, Session } from './database/driver.ts';
import { StoreError } from './database/errors.ts';

/**
 * An append-only list of strings with one writer at a time, such as the ledger of what was
 * uploaded. Whoever reads it claims it, until `close`. The claim of a process that has ended is
 * taken over; that of another machine after a minute without a sign of life.
 */
export interface StoreJournal {
  /**
   * Claims the journal and reads everything in it, oldest first. Throws `claim_lost` while another
   * process has it.
   */
  read(): AsyncGenerator<string, void, undefined>;
  /**
   * Adds a string in a transaction of its own. Throws `claim_lost` unless this process still has
   * the claim.
   */
  append(line: string): Promise<void>;
  /** Lets go of it. The connections belong to the store. */
  close(): Promise<void>;
}

const pageSize = 1000;
const heartbeatMs = 10_000;
const staleMs = 60_000;

/** The journal of a name. Its claim is a row of `claims` that belongs to no account. */
export function openJournal(driver: Driver, name: string): StoreJournal {
  const owner = newOwner();
  const claim = ['', `journal ${name}`] as const;
  let timer: NodeJS.Timeout | undefined;
  let last = 0;

  const hold = async (session: Session): Promise<{ owner: LockOwner | null; age: number }> => {
    const [row] = await session.all(
      `SELECT holder, ${driver.dialect.now} - claimed_at AS age FROM claims WHERE account = $1 AND name = $2 ${driver.dialect.lock}`,
      claim,
    );
    return { owner: readOwner(String(row?.holder)), age: Number(row?.age) };
  };

  const setHolder = (session: Session, holder: string) =>
    session.run(
      `UPDATE claims SET token = token + 1, holder = $3, claimed_at = ${driver.dialect.now} WHERE account = $1 AND name = $2`,
      [...claim, holder],
    );

  const inUse = (other: LockOwner) =>
    new StoreError('claim_lost', inUseBy(`the ledger "${name}"`, other));

  const take = () =>
    driver.write(async (session) => {
      await session.run(
        "INSERT INTO claims (account, name, token, holder, claimed_at) VALUES ($1, $2, 0, '', 0) ON CONFLICT (account, name) DO NOTHING",
        claim,
      );
      const { owner: other, age } = await hold(session);
      if (other !== null && other.token !== owner.token && (isRunning(other) ?? age < staleMs))
        throw inUse(other);
      await setHolder(session, JSON.stringify(owner));
    });

  const beat = () =>
    driver.write(async (session) => {
      if ((await hold(session)).owner?.token === owner.token)
        await setHolder(session, JSON.stringify(owner));
      else clearInterval(timer);
    });

  return {
    async *read() {
      await take();
      clearInterval(timer);
      timer = setInterval(() => void beat().catch(() => undefined), heartbeatMs);
      timer.unref();
      last = 0;
      for (;;) {
        const rows = await driver.all(
          `SELECT n, line FROM journals WHERE name = $1 AND n > $2 ORDER BY n LIMIT ${pageSize}`,
          [name, last],
        );
        for (const { n, line } of rows) {
          last = Number(n);
          yield String(line);
        }
        if (rows.length < pageSize) return;
      }
    },
    async append(line) {
      const n = last + 1;
      await driver.write(async (session) => {
        const { owner: other } = await hold(session);
        if (other === null)
          throw new StoreError(
            'claim_lost',
            `The journal "${name}" is not claimed by this process: read it first.`,
          );

        if (other.token !== owner.token) throw inUse(other);
        const added = await session.all(
          'INSERT INTO journals (name, n, line) VALUES ($1, $2, $3) ON CONFLICT (name, n) DO NOTHING RETURNING n',
          [name, n, line],
        );
        if (added.length > 0) return;

        // When the connection breaks during a commit, the second attempt finds what the first has
        // written.
        const [found] = await session.all('SELECT line FROM journals WHERE name = $1 AND n = $2', [
          name,
          n,
        ]);
        if (String(found?.line) === line) return;
        throw new StoreError(
          'claim_lost',
          `The database has other lines in "${name}" than this process has read: it was restored, or a replica that was behind took over. Run it again.`,
        );
      });
      last = n;
    },
    async close() {
      clearInterval(timer);
      if (timer === undefined) return;

      // Where this fails, the claim ends with the process.
      await driver
        .write(async (session) => {
          if ((await hold(session)).owner?.token === owner.token) await setHolder(session, '');
        })
        .catch(() => undefined);
    },
  };
}
