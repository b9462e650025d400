import {
  type AccountVerdict,
  type Board,
  type FleetStatus,
  type Job,
  type PinnedJob,
  readStatus,
  verifyJob,
} from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { Interrupted } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { refusedCodes } from '../failures/fleet.ts';
import { type Io, say, show, write } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { styleFor, widthOf } from '../term/style.ts';
import { boardUrl, isOwnBoard, openSharedBoard, typedJob } from './place.ts';
import { credentialsOf, targetAt } from './set.ts';
import { verdictScreen } from './verdict-screen.ts';

/** `calls fleet verify`: compares what lies in the target with the server. With the file of a job it needs no board. */
export async function verify(args: Args, io: Io): Promise<number> {
  const { name, job } = await typedJob(args, io);
  const url = boardUrl(args, io);
  const board =
    job !== null && (url === null || isOwnBoard(url)) ? null : await openSharedBoard(args, io, name);
  try {
    return await verifyIn(board === null ? (job as Job) : readStatus(board).job, board, args, io);
  } finally {
    await board?.close();
  }
}

async function verifyIn(job: Job | PinnedJob, board: Board | null, args: Args, io: Io): Promise<number> {
  const target = await targetAt(job.into, null, args, io);
  const verdicts: AccountVerdict[] = [];
  const isJson = args.flag('json');
  try {
    const all = verifyJob({
      target,
      job,
      credentials: credentialsOf(args, io),
      deep: args.flag('deep'),
      signal: io.signal,
      ...(board === null ? {} : { board }),
    });
    for await (const verdict of all) {
      verdicts.push(verdict);
      if (isJson) await write(io.stdout, `${JSON.stringify(verdict)}\n`);
    }
  } catch (error) {
    throw io.signal.aborted ? new Interrupted(['nothing was changed']) : error;
  } finally {
    await target.close();
  }
  if (!isJson) {
    const style = styleFor(io.stdout, io.env);
    await show(io, verdictScreen(verdicts, { width: widthOf(io.stdout, io.env), style }));
  }
  return ended(verdicts, board === null ? null : readStatus(board), io);
}

/** Says what helps, and returns the exit status. */
function ended(verdicts: readonly AccountVerdict[], status: FleetStatus | null, io: Io): number {
  const bad = verdicts.filter(({ verdict }) => verdict !== 'proved');
  if (bad.length === 0) return exitCodes.ok;
  if (status !== null) {
    const { job, phases, parcels } = status;
    if (phases.reading + phases.closing > 0)
      say(io, `  → ${job.name} is not done yet: calls fleet status ${job.name}`);
    if (phases.aside + parcels.aside > 0)
      say(io, `  → calls fleet retry ${job.name} takes what was set aside back into the work`);
    const [differs] = bad.filter(({ verdict }) => verdict === 'differs');
    if (differs !== undefined) {
      const command = `calls fleet retry ${job.name} --account ${differs.account}`;
      say(io, `  → ${command} compares it once more, and reads again what differs`);
    }
  }
  const unknown = bad.filter(({ verdict }) => verdict === 'unknown');
  if (unknown.length > 0)
    say(
      io,
      `  → ${plural(unknown.length, 'account')} could not be asked about; put the reason right and verify again`,
    );
  const isRefused = bad.every(({ code }) => code !== null && refusedCodes.has(code));
  return isRefused && bad.length === verdicts.length ? exitCodes.refused : exitCodes.incomplete;
}
