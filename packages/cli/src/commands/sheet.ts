import { sheetFormats } from '@call-attribution/conversions/formats';
import { command } from '../command.ts';
import {
  accounts,
  allowRetractions,
  connection,
  conversionName,
  dryRun,
  ruleOptions,
  uploadedOutcomes,
  whichCalls,
} from '../options.ts';

/** `calls sheet`. */
export const sheet = command({
  name: 'sheet',
  summary: 'write the upload sheet of a bid tool: conversions from calls',
  about:
    'Says how many calls are in it, and how many are left out for which reason. With --ledger only what was not written ' +
    'before, and adjustments of what has changed. --min-talk replaces the minimum talk time of the tool.',
  words: { '<tool>': 'the tool that takes the sheet' },
  choices: { tool: Object.keys(sheetFormats) },
  options: {
    '-o, --output <file>':
      'file to write, or - for stdout; {date} in the name is the day, {account} the account',
    ...conversionName,
    '--ledger <file>':
      'remembers what was written: a file, or sqlite:calls.db or postgres://user@host/name; {account} and {date} are replaced',
    '--left-out <file>':
      'CSV file to write, with each call that is left out and the reason; {account} and {date} are replaced',
    ...uploadedOutcomes,
    ...dryRun,
    ...allowRetractions,
    ...ruleOptions,
    ...whichCalls,
    ...accounts,
    ...connection,
  },
  examples: {
    "calls sheet google-ads-clicks -o clicks.csv --conversion-name 'Phone lead' --value 25USD --from 7d --time-zone America/New_York":
      'a sheet for Google Ads, and how many calls are left out for which reason',
    "calls sheet microsoft-ads -o clicks-{date}.csv --ledger uploads.ledger --conversion-name 'Phone lead' --from 90d --time-zone America/New_York":
      'every day: only what was not uploaded before, and adjustments of what has changed',
    "calls sheet google-ads-clicks -o sales-{date}.csv --ledger uploads.ledger --conversion-name 'Sale' --outcomes sales.csv --from 90d --time-zone America/New_York":
      'what calls became, with the value and the time of each sale',
  },
  async run(args, io) {
    return (await import('./runs/sheet.ts')).sheet(args, io);
  },
});
