import { command } from '../command.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { say } from '../io.ts';
import { accounts, connection, legacy, only, output } from '../options.ts';
import { plural } from '../terminal/numbers.ts';
import type { Row } from './typed/output.ts';

/** `calls sms`: the numbers that can receive text messages, from the legacy API. */
export const sms = command({
  name: 'sms',
  summary: 'show the numbers of the account that can receive text messages',
  options: {
    ...only(output, '--json', '--format <table|ndjson|csv>', '-o, --output <file>'),
    ...accounts,
    ...legacy,
    ...connection,
  },
  examples: { 'calls sms --format csv': 'number, whether SMS is enabled, and listener URL' },
  async run(args, io) {
    const { accountsOfApi, eachAccount, openClient, planEach } = await import(
      './typed/accounts.ts'
    );
    const { rowFormats, targetOf, writeRows } = await import('./typed/output.ts');
    const target = targetOf(args, rowFormats);
    const accounts = await planEach(accountsOfApi(args, io), ({ settings }) => {
      if (!settings.legacyBaseUrl)
        throw new UsageError('the URL of the SMS listing is not set', [
          'set CALLS_LEGACY_BASE_URL, or "legacyBaseUrl" in calls.config.json, or --legacy-base-url',
        ]);

      if (settings.secret('accessKey') || !settings.secret('bearerToken')) return;
      throw new UsageError('the SMS listing takes an access key and a secret key only', [
        'set CALLS_ACCESS_KEY and CALLS_SECRET_KEY in addition to the bearer token',
      ]);
    });
    const several = accounts.some(({ name }) => name !== null);
    const rows: Row[] = [];
    const status = await eachAccount(accounts, args, io, async ({ name, settings }) => {
      const client = await openClient(settings, io);
      const found = await client
        .listSmsNumbers({ signal: io.signal })
        .finally(() => client.close());
      for (const { number, smsEnabled, url } of found)
        rows.push({ ...(several ? { account: name } : {}), number, smsEnabled, url });
      return exitCodes.ok;
    });
    const columns = [
      ...(several ? [{ key: 'account', title: 'Account', min: 12 }] : []),
      { key: 'number', title: 'Number', min: 12 },
      { key: 'smsEnabled', title: 'SMS' },
      { key: 'url', title: 'Listener' },
    ];
    await writeRows(rows, columns, target, io);
    const enabled = rows.filter(({ smsEnabled }) => smsEnabled === true).length;
    const others =
      rows.length > enabled ? `, ${plural(rows.length - enabled, 'other number')}` : '';
    say(io, `${plural(enabled, 'SMS-enabled number')}${others}`);
    return status;
  },
});
