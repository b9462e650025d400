import { command } from '../command.ts';
import { accounts, connection, listening, only, output, whichCalls, without } from '../options.ts';

/** `calls sync`. */
export const sync = command({
  name: 'sync',
  summary: 'keep a copy of the calls in your own store up to date',
  about:
    'Creates the store if it does not exist. calls report, count, list, get, export, sheet and sql then read the copy, and calls ' +
    'serve serves it as the API does. Calls through call extensions are always included. Of two syncs of an account the one that ' +
    'started later goes on, and the other one ends.',
  options: {
    '--store <url>':
      'where to write: sqlite:calls.db or postgres://user@host/name, password in PGPASSWORD (default: CALLS_STORE)',
    '--every <duration>': 'repeat until stopped, at this interval: 90s, 10m, 1h',
    '--lookback <duration>': 'read calls again that are younger than this: 24h, 7d',
    '--restart': 'read and count all calls that match again',
    ...without(whichCalls, '--include-extensions', '--store <url>', '--where <condition>'),
    ...accounts,
    ...only(listening, '--status-port <port>', '--status-host <name>'),
    ...only(output, '--json'),
    ...connection,
  },
  examples: [
    ['calls sync --store sqlite:calls.db', 'once; reports how many calls are new, changed and the same'],
    ['calls sync --store postgres://calls@db/calls --every 10m', 'until Ctrl-C'],
    [
      'calls sync --store sqlite:calls.db --from 60d --time-zone America/New_York',
      'for cron: the last 60 days, and no gap when it was not run for a while',
    ],
  ],
  async run(args, io) {
    return (await import('../runs/sync.ts')).sync(args, io);
  },
});
