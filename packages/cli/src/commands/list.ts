import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { accounts, connection, output, whichCalls, without } from '../options.ts';

/** `calls list`. */
export const list = command({
  name: 'list',
  summary: 'show the latest calls, or each new one as it comes',
  printsRows: true,
  about:
    'Shows the latest calls that match, the newest first. On a terminal the table fits the window; piped, nothing is cut. ' +
    '--all shows the oldest first; in the formats ndjson and csv it is a stream and works for any number of calls. --follow begins ' +
    'with the calls of the last hour, looks for new ones until Ctrl-C, and shows each once.',
  options: {
    '-n, --limit <n>': 'how many calls to show (default: 20)',
    '--all': 'show all calls that match',
    '--page <page>': 'skip so many pages of --limit calls (default: 0)',
    '--sort <newest|oldest>':
      'begin with the newest calls, or with the oldest (default: newest; oldest with --all)',
    '--follow': 'show each new call as it comes, until Ctrl-C',
    '--every <duration>': 'with --follow: how often to look: 10s, 1m (default: 30s)',
    ...without(whichCalls, '--on-bad-record <stop|skip>'),
    ...output,
    ...accounts,
    ...connection,
  },
  examples: [
    [
      'calls list --from 7d --min-talk 2m --time-zone America/New_York',
      'the latest calls of seven days, of two minutes or more',
    ],
    ['calls list --period 2026-11 --all -o november.csv', 'a whole month as a file'],
    [
      "calls list --q 'talk_minutes:[5 TO *]' --fields sid,date_added,ppc_campaign",
      'your own filter and fields',
    ],
    ['calls list --follow --min-talk 2m --json | jq .sid', 'each new call, for another program'],
  ],
  async run(options, io, args) {
    if (options.every && !options.follow) throw new UsageError('--every goes with --follow');
    if (options.follow) return (await import('../list/watch.ts')).watchCalls(args, io);
    return (await import('../list/list.ts')).list(args, io);
  },
});
