import type { Driver } from './database/driver.ts';
import { StoreError } from './database/errors.ts';

/**
 * An append-only list of strings with one writer at a time, such as the ledger of what was uploaded. `read` says where it
 * ends; from then on somebody else who adds to it makes `append` fail.
 */
export interface StoreJournal {
  /** Everything in it, oldest first. */
  read(): AsyncGenerator<string, void, undefined>;
  /** Adds a string in a transaction of its own. Throws `claim_lost` when somebody else has added one since `read`. */
  append(line: string): Promise<void>;
  /** Does nothing: the connections belong to the store. */
  close(): Promise<void>;
}

const pageSize = 1000;

/** The journal of a name. */
export function openJournal(driver: Driver, name: string): StoreJournal {
  let last = 0;
  return {
    async *read() {
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
        const added = await session.all(
          'INSERT INTO journals (name, n, line) VALUES ($1, $2, $3) ON CONFLICT (name, n) DO NOTHING RETURNING n',
          [name, n, line],
        );
        if (added.length > 0) return;
        // When the connection breaks during a commit, the second attempt finds what the first has written.
        const [found] = await session.all('SELECT line FROM journals WHERE name = $1 AND n = $2', [name, n]);
        if (String(found?.line) === line) return;
        throw new StoreError(
          'claim_lost',
          `Another process has added to "${name}" at the same moment, so nothing was added here. Run it again.`,
        );
      });
      last = n;
    },
    close: () => Promise.resolve(),
  };
}
