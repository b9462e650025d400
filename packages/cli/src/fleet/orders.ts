import { createInterface } from 'node:readline/promises';
import { CallsError } from '@call-attribution/core/errors';
import {
  cancelJob,
  type Engine,
  type PlannedJob,
  pauseJob,
  type RetryResult,
  resumeJob,
  retryAside,
  statusOf,
} from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { type CliError, Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { refusedCodes } from '../failures/fleet.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { whileWaiting } from '../term/waiting.ts';
import { clientOf, credentialsOf, openShared, type TypedJob, unknownJob } from './place.ts';
import { reasonText } from './words.ts';

type Task = (engine: Engine, typed: TypedJob, args: Args, io: Io) => Promise<number>;

const onEngine =
  (task: Task) =>
  async (args: Args, io: Io): Promise<number> => {
    const { engine, ...typed } = await openShared(args, io);
    try {
      return await task(engine, typed, args, io);
    } finally {
      await engine.close();
    }
  };

/** `calls fleet pause`: nothing new is started. */
export const pause = onEngine(async (engine, { name: job }, args, io) => {
  const now = args.flag('now');
  const { state } = await pauseJob(engine, { now, at: io.clock.now() });
  if (state === 'cancelled') throw cancelled(job);
  const rest = now
    ? 'what is under way is dropped, and read again later'
    : 'what is under way is read to its end';
  say(io, `${job} is paused; ${rest}. It resumes with: calls fleet resume ${job}`);
  return exitCodes.ok;
});

/** `calls fleet resume`: goes on after a pause. */
export const resume = onEngine(async (engine, { name: job }, _args, io) => {
  const { before, state } = await resumeJob(engine, io.clock.now());
  if (state === 'cancelled') throw cancelled(job);
  say(io, before === state ? `${job} was not paused` : `${job} goes on`);
  return exitCodes.ok;
});

const cancelled = (job: string): CliError =>
  new UsageError(`${job} was cancelled`, {
    hints: ['it stays so, and what was read is in the target; give the job another name to begin again'],
  });

/** `calls fleet cancel`: ends a job. */
export const cancel = onEngine(async (engine, { name: job }, args, io) => {
  const status = statusOf(await engine.look(), io.clock.now());
  if (status === null) throw unknownJob(job);
  const { workers, states, accounts } = status;
  const open = accounts.length - states.done - states.aside;
  if (!args.flag('yes')) {
    const what = `cancel ${job} for good, with ${plural(open, 'account')} still in the work and ${plural(workers.length, 'worker')}?`;
    if (!(await agreed(what, io))) {
      say(io, 'nothing was changed');
      return exitCodes.ok;
    }
  }
  const { before } = await cancelJob(engine, io.clock.now());
  const words = before === 'cancelled' ? 'was cancelled before' : 'is cancelled; its workers end';
  say(io, `${job} ${words}. What was read stays in the target`);
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
export const retry = onEngine(async (engine, { name, job }, args, io) => {
  const results = await retryAside(engine, {
    accounts: args.list('account'),
    at: io.clock.now(),
    ...(job === null ? {} : { tryKeys: keysTried(job, args, io) }),
  });
  if (results.length === 0) say(io, `${name}: nothing is set aside`);
  for (const result of results) say(io, lineOf(result));
  const bad = results.filter(({ outcome }) => outcome === 'refused');
  if (bad.length === 0) return exitCodes.ok;
  return bad.length === results.length ? exitCodes.refused : exitCodes.incomplete;
});

/** Tries the keys of an account with one request. */
function keysTried(job: PlannedJob, args: Args, io: Io) {
  const credentials = credentialsOf(args, io);
  const accounts = new Map([...job.accounts.values()].map((account) => [account.id, account]));
  return async (id: string): Promise<{ readonly code: string; readonly message: string } | null> => {
    const account = accounts.get(id);
    if (account === undefined) return null;
    try {
      await using client = await clientOf(job, account, credentials);
      await client.listCalls({ rows: 1, signal: io.signal });
      return null;
    } catch (error) {
      if (io.signal.aborted) throw new Interrupted();
      if (!CallsError.is(error) || !refusedCodes.has(error.code)) return null;
      return { code: error.code, message: error.summary };
    }
  };
}

function lineOf({ account, outcome, code, message }: RetryResult): string {
  switch (outcome) {
    case 'again':
      return `${account}: back to work`;
    case 'sooner':
      return `${account}: was not set aside; its turn comes now`;
    case 'refused':
      return `${account}: stays set aside: ${reasonText(code ?? 'unknown', message)}`;
  }
}
