import { createInterface } from 'node:readline/promises';
import {
  type Board,
  cancelJob,
  type OrderResult,
  pauseJob,
  type RetryResult,
  readStatus,
  resumeJob,
  retryAside,
} from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { type CliError, Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { refusedCodes } from '../failures/fleet.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { whileWaiting } from '../term/waiting.ts';
import { openSharedBoard, typedJob } from './place.ts';
import { credentialsOf, targetAt } from './set.ts';
import { reasonText } from './words.ts';

type Task = (board: Board, job: string, args: Args, io: Io) => Promise<number>;

const onBoard =
  (task: Task) =>
  async (args: Args, io: Io): Promise<number> => {
    const { name } = await typedJob(args, io);
    const board = await openSharedBoard(args, io, name);
    try {
      return await task(board, name, args, io);
    } finally {
      await board.close();
    }
  };

/** `calls fleet pause`: nothing new is started. */
export const pause = onBoard(async (board, job, args, io) => {
  const now = args.flag('now');
  const { state } = await pauseJob(board, { now });
  if (state === 'cancelled') throw cancelled(job);
  const rest = now
    ? 'parcels under way are dropped, and read again later'
    : 'parcels under way are read to their end';
  say(io, `${job} is paused; ${rest}. It resumes with: calls fleet resume ${job}`);
  return exitCodes.ok;
});

/** `calls fleet resume`: goes on after a pause. */
export const resume = onBoard(async (board, job, _args, io) => {
  const { before, state } = await resumeJob(board);
  if (state === 'cancelled') throw cancelled(job);
  say(io, before === state ? `${job} was not paused` : `${job} goes on`);
  return exitCodes.ok;
});

const cancelled = (job: string): CliError =>
  new UsageError(`${job} was cancelled`, {
    hints: ['calls fleet plan JOB.json takes it up again; what was read is in the target'],
  });

/** `calls fleet cancel`: ends a job. */
export const cancel = onBoard(async (board, job, args, io) => {
  const { workers, phases } = readStatus(board);
  const open = phases.reading + phases.closing + phases.syncing;
  if (!args.flag('yes')) {
    const what = `cancel ${job}, with ${plural(open, 'account')} still in the work and ${plural(workers.length, 'worker')}?`;
    if (!(await agreed(what, io))) {
      say(io, 'nothing was changed');
      return exitCodes.ok;
    }
  }
  const result: OrderResult = await cancelJob(board);
  const words = result.before === 'cancelled' ? 'was cancelled before' : 'is cancelled; its workers end';
  say(io, `${job} ${words}. What was read stays in the target; planning it again takes it up`);
  return exitCodes.ok;
});

async function agreed(question: string, io: Io): Promise<boolean> {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) {
    throw new UsageError('calls fleet cancel asks before it ends a job, and there is no terminal', {
      hints: ['add --yes'],
    });
  }
  const asking = createInterface({ input: io.stdin, output: io.stderr });
  try {
    const answer = await whileWaiting(null, () =>
      asking.question(`${question} [y/N] `, { signal: io.signal }),
    );
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    throw io.signal.aborted ? new Interrupted(['nothing was changed']) : error;
  } finally {
    asking.close();
  }
}

/** `calls fleet retry`: takes what was set aside back into the work, once its reason is gone. */
export const retry = onBoard(async (board, job, args, io) => {
  const accounts = args.list('account');
  const planned = readStatus(board).job;
  const target = await targetAt(planned.into, planned, args, io);
  try {
    const credentials = credentialsOf(args, io);
    const results: RetryResult[] = [];
    for (const account of accounts.length === 0 ? [null] : accounts) {
      const one = account === null ? {} : { account };
      results.push(...(await retryAside(board, { target, credentials, signal: io.signal, ...one })));
    }
    if (results.length === 0) say(io, `${job}: nothing is set aside`);
    for (const result of results) say(io, lineOf(result));
    const bad = results.filter(({ outcome }) => outcome === 'refused');
    if (bad.length === 0) return exitCodes.ok;
    const isKeys = bad.every(({ code }) => refusedCodes.has(code ?? ''));
    return isKeys && bad.length === results.length ? exitCodes.refused : exitCodes.incomplete;
  } catch (error) {
    throw io.signal.aborted ? new Interrupted() : error;
  } finally {
    await target.close();
  }
});

function lineOf({ account, outcome, parcels, code, message }: RetryResult): string {
  switch (outcome) {
    case 'again':
      return `${account}: the keys open the account; ${plural(parcels, 'parcel')} to read`;
    case 'compared':
      return `${account}: was not set aside; it is compared with the server once more`;
    case 'refused':
      return `${account}: stays set aside: ${reasonText(code ?? 'unknown', message)}`;
  }
}
