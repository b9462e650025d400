import { phoneKey } from '@call-attribution/core';
import type { Driver } from '../database/driver.ts';
import { stringIn } from '../rows/documents.ts';
import { type Layouts, slotOf } from '../rows/layouts.ts';
import { callerMark, deleteKeys, holdAccount } from '../rows/write.ts';

/** Rows per statement, so that other work of the process is not held up. */
const batch = 5_000;

/**
 * Deletes all calls of a caller and remembers a hash of the number, so that later syncs leave the caller out. Numbers are
 * compared by their digits. Returns the number of deleted calls.
 */
export async function eraseCaller(
  driver: Driver,
  layouts: Layouts,
  account: string,
  caller: string,
): Promise<number> {
  const wanted = phoneKey(caller);
  await driver.write(async (session) => {
    const salt = await holdAccount(driver, session, account);
    await session.run(
      'INSERT INTO erased (account, caller) VALUES ($1, $2) ON CONFLICT (account, caller) DO NOTHING',
      [account, callerMark(caller, salt)],
    );
  });
  // From here on no writer can add the caller, so one pass over the rows finds every call.
  let erased = 0;
  for (let after = ''; ; ) {
    const rows = await driver.all(
      'SELECT sid, layout, packed FROM calls WHERE account = $1 AND sid > $2 ORDER BY sid LIMIT $3',
      [account, after, batch],
    );
    await layouts.learn(driver, rows);
    const keys = rows
      .filter((row) => phoneKey(stringIn(layouts.unpack(row), slotOf('ani')) ?? '') === wanted)
      .map((row) => String(row.sid));
    if (keys.length > 0)
      erased += await driver.write(async (session) => {
        await holdAccount(driver, session, account);
        return deleteKeys(driver, session, account, keys);
      });
    const last = rows.at(-1);
    if (rows.length < batch || last === undefined) return erased;
    after = String(last.sid);
  }
}
