import type { Args, Handler } from '../args/command.ts';
import { interval } from '../args/interval.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say, write } from '../io.ts';
import { periodOf, steadyFilterOf } from '../reading/filter.ts';
import { rangeOf, sayPeriod } from '../reading/period.ts';
import { serveStatus } from '../serving/status-server.ts';
import { again } from '../syncing/repeat.ts';
import { openSync, type SyncRun, saySync } from '../syncing/sync.ts';

/** `calls sync`: brings a store up to date, once or repeatedly. */
export const sync: Handler = async (args, io) => {
  const everyMs = interval(args, 'every');
  if (everyMs === null && args.flag('status-port'))
    throw new UsageError('--status-port is for a sync that repeats; add --every');
  if (args.flag('status-host') && !args.flag('status-port'))
    throw new UsageError('--status-host needs --status-port');
  const resumes = ['what was read so far is in the store; the next calls sync continues from there'];
  const synced = await openSync(args, io, {
    command: 'calls sync',
    everyMs,
    failsAtOnce: true,
    serve: (status) => serveStatus(args, status, io),
    restart: args.flag('restart'),
    filter: (context) => {
      sayPeriod(rangeOf(args, context), context, io);
      return steadyFilterOf(args, context);
    },
    period: (context) => periodOf(args, context),
  }).catch((error: unknown) => {
    throw io.signal.aborted ? new Interrupted(resumes) : error;
  });
  try {
    const once = (): Promise<number> => synced.each((run) => report(run, synced.store.name, args, io));
    if (everyMs === null) {
      const status = await once();
      const typed = args.text('store');
      if (typed !== null && !io.env.CALLS_STORE)
        say(io, `next: export CALLS_STORE=${typed} makes every command read it`);
      return status;
    }
    await again(once, everyMs, io);
    return exitCodes.ok;
  } catch (error) {
    if (!io.signal.aborted) throw error;
    throw new Interrupted(resumes);
  } finally {
    await synced.close();
  }
};

/** Prints the summary for programs, and says it. Returns the exit status. */
async function report(run: SyncRun, store: string, args: Args, io: Io): Promise<number> {
  const { summary, bad } = run;
  if (args.flag('json')) {
    const { account, ...figures } = summary;
    await write(io.stdout, `${JSON.stringify({ account, ...figures, skipped: bad.leftOut() })}\n`);
  }
  return saySync(run, store, io);
}
