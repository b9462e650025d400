import type { Handler } from '../args/command.ts';
import { openClient } from '../calls/connect.ts';
import { formatOf, writeRows } from '../calls/output.ts';
import { readSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { say, write } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { styleFor, widthOf } from '../term/style.ts';
import { renderTable } from '../term/table.ts';

/** `calls sms`: the numbers that can receive text messages, from the legacy API. */
export const sms: Handler = async (args, io) => {
  const format = formatOf(args);
  const settings = readSettings(args, io);
  if (!settings.legacyBaseUrl) {
    throw new UsageError('the URL of the SMS listing is not set', {
      hints: ['set CALLS_LEGACY_BASE_URL, or "legacyBaseUrl" in calls.config.json, or --legacy-base-url'],
    });
  }
  const client = await openClient(settings, args, io);
  try {
    const numbers = await client.listSmsNumbers({ signal: io.signal });
    if (format !== 'table') {
      await writeRows(
        io.stdout,
        format,
        numbers.map(({ number, smsEnabled, url }) => ({ number, smsEnabled, url })),
      );
      return exitCodes.ok;
    }
    if (numbers.length > 0) {
      const { lines } = renderTable(
        [{ title: 'Number', min: 12 }, { title: 'SMS' }, { title: 'Listener' }],
        numbers.map(({ number, smsEnabled, url }) => [number, String(smsEnabled), url ?? '']),
        { width: widthOf(io.stdout, io.env), style: styleFor(io.stdout, io.env, args.flag('no-color')) },
      );
      await write(io.stdout, `${lines.join('\n')}\n`);
    }
    say(io, plural(numbers.length, 'SMS-enabled number'));
    return exitCodes.ok;
  } finally {
    await client.close();
  }
};
