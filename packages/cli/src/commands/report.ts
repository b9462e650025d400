import { measureForms } from '@call-attribution/questions/measures';
import { command } from '../command.ts';
import { accounts, connection, only, output, whichCalls, without } from '../options.ts';

/** `calls report`. */
export const report = command({
  name: 'report',
  summary: 'measure calls by campaign, day and so on, as a table and charts',
  about:
    'Groups are day, week, month, hour, weekday, caller_type, caller_first_campaign or any field, by the name of the API or as people say it: campaign, ' +
    `keyword, landing page, device. Measures are ${measureForms.join(', ')}. ` +
    'In a table and a page, one of two groups goes across: time, or the second. Several accounts are one ' +
    'question, whose order and limit hold for all of them.',
  options: {
    '--by <groups>': 'up to four groups, separated by commas (default: day)',
    '--measures <measures>':
      'what is measured, separated by commas: calls,missed_rate,"share(rank >= 4) as low" (default: calls,share,missed,talk_mean)',
    '--compare <comparison>':
      'another period to compare with: previous, year, "last month", 2026-09; needs a period with both ends',
    '--order <columns>':
      'columns to sort by: "missed_rate desc", "calls desc, campaign" (default: time in its order, else most of the first measure first)',
    '-n, --limit <n>':
      'how many groups to show; the total is that of all (default: 10 in a table and a page, else all)',
    '--title <text>': 'title of the page',
    ...without(whichCalls, '--min-talk <duration>', '--on-bad-record <stop|skip>'),
    ...accounts,
    ...only(output, '--json', '-o, --output <file>'),
    '--format <table|ndjson|csv|html>':
      'another format (default: table, or what the extension of --output says)',
    ...connection,
  },
  examples: [
    [
      'calls report --by campaign,day --from 30d --time-zone America/New_York',
      'campaigns, each with its days as a line of bars',
    ],
    [
      'calls report --by campaign --measures calls,missed_rate,callers --period 2026-10 --compare previous --order "missed_rate desc"',
      'who misses most, and how that has changed',
    ],
    ['calls report --by channel -o report.html', 'a page to pass on'],
    [
      'calls report --by campaign,month --store sqlite:calls.db',
      'the same from a copy, without asking the API',
    ],
  ],
  async run(_options, io, args) {
    return (await import('../report/report.ts')).report(args, io);
  },
});
