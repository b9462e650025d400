import { type Driver, insertRows } from '../database/driver.ts';
import { holdAccount } from './hold.ts';

/** An entry of the SMS number listing. */
export interface SmsEntry {
  /** The number, digits only. */
  readonly number: string;
  /** The flag as it is sent, `1` or `0`. */
  readonly smsEnabled: string;
  /** URL of the listener. */
  readonly url: string;
}

/** The SMS numbers of an account, ordered by number. */
export async function listSms(driver: Driver, account: string): Promise<SmsEntry[]> {
  const rows = await driver.all(
    'SELECT number, sms_enabled, url FROM sms_numbers WHERE account = $1 ORDER BY number',
    [account],
  );
  return rows.map((row) => ({
    number: String(row.number),
    smsEnabled: String(row.sms_enabled),
    url: String(row.url),
  }));
}

/** Replaces the SMS numbers of an account. */
export async function replaceSms(
  driver: Driver,
  account: string,
  numbers: readonly SmsEntry[],
): Promise<void> {
  await driver.write(async (session) => {
    await holdAccount(driver, session, account);
    await session.run('DELETE FROM sms_numbers WHERE account = $1', [account]);
    await insertRows(
      session,
      { into: 'sms_numbers', columns: ['account', 'number', 'sms_enabled', 'url'] },
      numbers.map(({ number, smsEnabled, url }) => [account, number, smsEnabled, url]),
    );
  });
}
