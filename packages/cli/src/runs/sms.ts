import type { Handler } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { say, show } from '../io.ts';
import { writeRows } from '../output/rows.ts';
import { rowFormats, targetOf } from '../output/target.ts';
import { accountsOfApi } from '../reading/accounts.ts';
import { openClient } from '../reading/connect.ts';
import { eachAccount, planEach } from '../reading/each-account.ts';
import { plural } from '../term/numbers.ts';
import { styleFor, widthOf } from '../term/style.ts';
import { fitTable } from '../term/table.ts';

/** `calls sms`: the numbers that can receive text messages, from the legacy API. */
export const sms: Handler = async (args, io) => {
  const { format } = targetOf(args, rowFormats);
  const accounts = await planEach(accountsOfApi(args, io), ({ settings }) => {
    if (settings.legacyBaseUrl) {
      if (settings.secret('accessKey') || !settings.secret('bearerToken')) return;
      throw new UsageError('the SMS listing takes an access key and a secret key only', {
        hints: ['set CALLS_ACCESS_KEY and CALLS_SECRET_KEY in addition to the bearer token'],
      });
    }
    throw new UsageError('the URL of the SMS listing is not set', {
      hints: ['set CALLS_LEGACY_BASE_URL, or "legacyBaseUrl" in calls.config.json, or --legacy-base-url'],
    });
  });
  const several = accounts.some(({ name }) => name !== null);
  const found: { account: string | null; number: string; smsEnabled: boolean | null; url: string | null }[] =
    [];
  const status = await eachAccount(accounts, args, io, async ({ name, settings }) => {
    const client = await openClient(settings, args, io);
    try {
      const numbers = await client.listSmsNumbers({ signal: io.signal });
      for (const { number, smsEnabled, url } of numbers)
        found.push({ account: name, number, smsEnabled, url });
      return exitCodes.ok;
    } finally {
      await client.close();
    }
  });
  if (format !== 'table') {
    const rows = found.map(({ account, ...number }) => (several ? { account, ...number } : number));
    await writeRows(io.stdout, format, rows);
    return status;
  }
  if (found.length > 0) {
    const columns = [{ title: 'Number', min: 12 }, { title: 'SMS' }, { title: 'Listener' }];
    const rows = found.map(({ account, number, smsEnabled, url }) => [
      ...(several ? [account ?? ''] : []),
      number,
      String(smsEnabled),
      url ?? '',
    ]);
    const { lines } = fitTable([...(several ? [{ title: 'Account', min: 12 }] : []), ...columns], rows, {
      width: widthOf(io.stdout, io.env),
      style: styleFor(io.stdout, io.env),
    });
    await show(io, lines);
  }
  const enabled = found.filter(({ smsEnabled }) => smsEnabled).length;
  const others = found.length - enabled;
  say(
    io,
    `${plural(enabled, 'SMS-enabled number')}${others > 0 ? `, ${plural(others, 'other number')}` : ''}`,
  );
  return status;
};
