import type { Args, Handler } from '../args/command.ts';
import { filterOf } from '../calls/filter.ts';
import { Interrupted } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, write } from '../io.ts';
import { again, interval, openSync, type SyncJob, type SyncRun, saySync } from './sync-run.ts';

/** `calls sync`: brings a store up to date, once or repeatedly. */
export const sync: Handler = async (args, io) => {
  const every = interval(args, 'every');
  const resumes = ['what was read so far is in the store; the next calls sync continues from there'];
  const job = await openSync(args, io, {
    command: 'calls sync',
    filter: (context) => filterOf(args, context),
  }).catch((error: unknown) => {
    throw io.signal.aborted ? new Interrupted(resumes) : error;
  });
  try {
    const once = async (): Promise<number> => report(await job.once(), job, args, io);
    if (every === null) return await once();
    await again(once, every, io);
    return exitCodes.ok;
  } catch (error) {
    if (!io.signal.aborted) throw error;
    throw new Interrupted(resumes);
  } finally {
    await job.close();
  }
};

/** Prints the summary for programs, and says it. Returns the exit status. */
async function report(run: SyncRun, { account, copy }: SyncJob, args: Args, io: Io): Promise<number> {
  const { summary, bad } = run;
  if (args.flag('json')) {
    const skipped = Math.max(summary.skipped, bad.count);
    const line = { account, ...summary, skipped, deadLetters: bad.count > 0 ? bad.path : null };
    await write(io.stdout, `${JSON.stringify(line)}\n`);
  }
  return saySync(run, { account, name: copy.name }, io);
}
