import { interval } from '../args.ts';
import { command } from '../command.ts';
import { exitCodes, Interrupted, UsageError } from '../errors.ts';
import { say, write } from '../io.ts';
import { accounts, connection, listening, only, output, whichCalls, without } from '../options.ts';

/** `calls sync`: brings a store up to date, once or repeatedly. */
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
    '--name <name>': 'a name for the account in the store: "Harbor Dental"',
    '--restart': 'read and count all calls that match again',
    ...without(whichCalls, '--include-extensions', '--store <url>', '--where <condition>'),
    ...accounts,
    ...only(listening, '--status-port <port>', '--status-host <name>'),
    ...only(output, '--json'),
    ...connection,
  },
  examples: {
    'calls sync --store sqlite:calls.db':
      'once; reports how many calls are new, changed and the same',
    'calls sync --store postgres://calls@db/calls --every 10m': 'until Ctrl-C',
    'calls sync --name "Harbor Dental"': 'pages, reports and assistants call the account so',
    'calls sync --store sqlite:calls.db --from 60d --time-zone America/New_York':
      'for cron: the last 60 days, and no gap when it was not run for a while',
  },
  async run(args, io) {
    const { again } = await import('../syncing/repeat.ts');
    const { sayRetry } = await import('./typed/repeat.ts');
    const { openSync, saySync } = await import('./runs/sync.ts');
    const everyMs = interval(args, 'every');
    if (everyMs === null && args.flag('status-port'))
      throw new UsageError('--status-port is for a sync that repeats; add --every');
    if (args.flag('status-host') && !args.flag('status-port'))
      throw new UsageError('--status-host needs --status-port');
    const resumes = [
      'what was read so far is in the store; the next calls sync continues from there',
    ];
    const synced = await openSync(args, io, { everyMs, feeds: [] }).catch((error: unknown) => {
      throw io.signal.aborted ? new Interrupted(resumes) : error;
    });
    try {
      const once = (): Promise<number> =>
        synced.each(async (run) => {
          if (args.flag('json')) {
            const { account, ...figures } = run.summary;
            const skipped = run.bad.leftOut();
            await write(io.stdout, `${JSON.stringify({ account, ...figures, skipped })}\n`);
          }
          return saySync(run, synced.store.name, io);
        });
      if (everyMs === null) {
        const status = await once();
        const typed = args.text('store');
        if (typed !== null && !io.env.CALLS_STORE)
          say(io, `next: export CALLS_STORE=${typed} makes every command read it`);
        return status;
      }
      await again(once, everyMs, io.signal, sayRetry(everyMs, io));
      return exitCodes.ok;
    } catch (error) {
      if (!io.signal.aborted) throw error;
      throw new Interrupted(resumes);
    } finally {
      await synced.close();
    }
  },
});
