import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type Board,
  createStatusReader,
  createWorker,
  createWorkerMetrics,
  pinJob,
  readStatus,
  type Target,
  type Worker,
} from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { interval } from '../args/interval.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { serveStatus } from '../serving/status-server.ts';
import { plural, span } from '../term/numbers.ts';
import { whileWaiting } from '../term/waiting.ts';
import { boardUrl, isOwnBoard, openBoardAt, openSharedBoard, typedJob } from './place.ts';
import { planWith } from './plan.ts';
import { credentialsOf, targetAt } from './set.ts';
import { sayEnd } from './work-end.ts';
import { logEvent, workLine } from './work-line.ts';

/** `calls fleet work`: works on a job until it is done, or until Ctrl-C. */
export async function work(args: Args, io: Io): Promise<number> {
  if (args.flag('status-host') && !args.flag('status-port'))
    throw new UsageError('--status-host needs --status-port');
  const pace: Pace = {
    ttl: interval(args, 'ttl'),
    slots: args.integer('slots', { min: 1, max: 64 }) ?? 'auto',
    grace: interval(args, 'grace') ?? 60_000,
  };
  const { name, job } = await typedJob(args, io);
  const url = boardUrl(args, io) ?? (job === null ? null : 'memory:');
  const isOwn = url !== null && isOwnBoard(url);
  if (isOwn && job === null) {
    throw new UsageError(`calls fleet work: with the board ${url} the job is planned here, from its file`, {
      hints: [`calls fleet work ${name}.json --board ${url}`],
    });
  }
  const board = isOwn ? await openBoardAt(url, name, args, io) : await openSharedBoard(args, io, name);
  try {
    const pinned = isOwn && job !== null ? pinJob(job) : readStatus(board).job;
    const target = await targetAt(pinned.into, pinned, args, io);
    try {
      if (isOwn && job !== null) await planWith({ job, board, target }, args, io);
      return await workWith(board, target, pace, args, io);
    } finally {
      await target.close();
    }
  } finally {
    await board.close();
  }
}

/** How the worker works. */
interface Pace {
  readonly ttl: number | null;
  readonly slots: number | 'auto';
  readonly grace: number;
}

async function workWith(board: Board, target: Target, pace: Pace, args: Args, io: Io): Promise<number> {
  const { ttl, slots, grace } = pace;
  const name = args.text('name') ?? `w-${hostname().split('.')[0]}-${randomBytes(2).toString('hex')}`;
  const reader = createStatusReader(board, ttl === null ? {} : { ttl });
  const metrics = createWorkerMetrics(board, name);
  const line = workLine(name, () => reader.read(), board, args, io);
  const worker = createWorker({
    board,
    target,
    credentials: credentialsOf(args, io),
    name,
    slots,
    ...(ttl === null ? {} : { ttl }),
    onEvent: (event) => {
      metrics.observe(event);
      if (args.flag('log')) logEvent(event, name, io);
    },
  });
  const stopStatus = await serveStatus(args, metrics, io);
  const slotText = slots === 'auto' ? 'as many slots as fit' : plural(slots, 'slot');
  say(io, `${name} on ${reader.read().job.name}: ${slotText}; Ctrl-C leaves in peace`);
  try {
    await whileWaiting(null, () => runUntilStopped(worker, grace, line.close, io));
  } finally {
    line.close();
    stopStatus();
  }
  if (io.signal.aborted) {
    throw new Interrupted(['what was committed stays; the same command continues from there']);
  }
  return sayEnd(reader.read(), { isOwn: isOwnBoard(board.name) }, io);
}

/** Works; after Ctrl-C ends what is under way. */
async function runUntilStopped(worker: Worker, grace: number, quiet: () => void, io: Io): Promise<void> {
  let leaving: Promise<void> | null = null;
  const leave = (): void => {
    quiet();
    say(io, `leaving: parcels under way have ${span(grace)} to end; a second Ctrl-C ends at once`);
    leaving = worker.leave(grace);
  };
  io.signal.addEventListener('abort', leave, { once: true });
  if (io.signal.aborted) leave();
  try {
    await worker.run();
    await leaving;
  } finally {
    io.signal.removeEventListener('abort', leave);
  }
}
