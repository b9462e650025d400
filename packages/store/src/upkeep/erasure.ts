import { scanField } from '@call-attribution/core/page';
import { phoneKey } from '@call-attribution/core/privacy';
import type { Driver } from '../database/driver.ts';
import { callerMark } from '../rows/caller-mark.ts';
import { fragmentText } from '../rows/documents.ts';
import { deleteCalls, holdAccount } from '../rows/write.ts';

/** Rows looked at per statement, so that other work of the process gets its turn. */
const stretch = 5_000;

/**
 * Deletes every call of a caller and remembers a mark of the number, so that a later sync does not bring them back.
 * The number is compared by its digits, however it was written. Gives the number of calls deleted.
 */
export async function eraseCaller(driver: Driver, account: string, caller: string): Promise<number> {
  const wanted = phoneKey(caller);
  await driver.write(async (session) => {
    const salt = await holdAccount(driver, session, account);
    await session.run(
      'INSERT INTO erased (account, caller) VALUES ($1, $2) ON CONFLICT (account, caller) DO NOTHING',
      [account, callerMark(caller, salt)],
    );
  });
  // From here on no writer can add the caller, so one walk over the rows finds all.
  let erased = 0;
  for (let after = ''; ; ) {
    const rows = await driver.all(
      'SELECT sid, common FROM calls WHERE account = $1 AND sid > $2 ORDER BY sid LIMIT $3',
      [account, after, stretch],
    );
    const sids = rows.filter((row) => callerOf(row.common) === wanted).map((row) => String(row.sid));
    if (sids.length > 0)
      erased += await driver.write(async (session) => {
        await holdAccount(driver, session, account);
        return deleteCalls(driver, session, account, sids);
      });
    const last = rows.at(-1);
    if (rows.length < stretch || last === undefined) return erased;
    after = String(last.sid);
  }
}

function callerOf(common: unknown): string | null {
  const bytes = Buffer.from(fragmentText(common));
  const caller = scanField(bytes, { start: 0, end: bytes.length }, 'ani');
  return caller === undefined ? null : phoneKey(caller);
}
