import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import {
  createWorker,
  createWorkerMetrics,
  type Engine,
  type FleetStatus,
  memoryEngine,
  type PlannedJob,
  readJob,
  statusOf,
  type Target,
  type Worker,
  type WorkerEvent,
  workerName,
} from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { interval } from '../args/interval.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { serveStatus } from '../serving/status-server.ts';
import { plural, span } from '../term/numbers.ts';
import { whileWaiting } from '../term/waiting.ts';
import { credentialsOf, engineUrl, openEngine, targetAt } from './place.ts';
import { sayEnd } from './work-end.ts';
import { logEvent, workLine } from './work-line.ts';

/** `calls fleet work`: works on a job until it is done, or until Ctrl-C. */
export async function work(args: Args, io: Io): Promise<number> {
  if (args.flag('status-host') && !args.flag('status-port'))
    throw new UsageError('--status-host needs --status-port');
  const slots = args.integer('slots') ?? 4;
  const grace = interval(args, 'grace') ?? 60_000;
  const job = await readJob(resolve(io.cwd, args.words[0] ?? ''));
  const url = engineUrl(args, io);
  const engine = url === null ? memoryEngine(io.clock) : await openEngine(url, job.name, args, io);
  try {
    const target = await targetAt(job.into, io);
    try {
      return await workWith({ job, engine, target, slots, grace }, args, io);
    } finally {
      await target.close();
    }
  } finally {
    await engine.close();
  }
}

/** All that a worker is made of. */
interface WorkSet {
  readonly job: PlannedJob;
  readonly engine: Engine;
  readonly target: Target;
  readonly slots: number;
  readonly grace: number;
}

async function workWith(set: WorkSet, args: Args, io: Io): Promise<number> {
  const { job, engine, target, slots, grace } = set;
  const name = args.text('name') ?? workerName(randomBytes(2).toString('hex'));
  const look = async (): Promise<FleetStatus | null> => statusOf(await engine.look(), io.clock.now());
  const metrics = createWorkerMetrics(() => worker, look);
  const onEvent = (event: WorkerEvent): void => {
    metrics.observe(event);
    if (args.flag('log')) logEvent(event, name, io);
    else sayEvent(event, engine.isShared, io);
  };
  const worker: Worker = createWorker({
    ...{ job, engine, target, name, slots, onEvent },
    credentials: credentialsOf(args, io),
    clock: io.clock,
  });
  const about = [
    `${plural(job.accounts.size, 'account')} into ${job.into}`,
    ...(job.filter ? [`filter ${job.filter}`] : []),
  ];
  say(io, `${job.name}: ${about.join(', ')}`);
  const stopStatus = await serveStatus(args, metrics, io);
  const where = engine.isShared ? `shared by ${engine.name}` : 'in this process';
  say(io, `${name}: ${plural(slots, 'slot')}, ${where}; Ctrl-C stops it`);
  const line = workLine(worker, look, args, io);
  try {
    await whileWaiting(null, () => runUntilStopped(worker, grace, line.close, io));
  } finally {
    line.close();
    stopStatus();
  }
  if (io.signal.aborted) {
    throw new Interrupted(['what was committed stays; the same command continues from there']);
  }
  const status = await look();
  if (status === null) throw new Error('the engine has lost the job');
  return sayEnd(status, { isOwn: !engine.isShared }, io);
}

/** What is worth a line at once: an account that is set aside, and a worker that cannot work. */
function sayEvent(event: WorkerEvent, isShared: boolean, io: Io): void {
  if (event.kind === 'turn' && event.outcome === 'aside')
    say(io, `  ${event.account} is set aside: ${event.code}: ${(event.message ?? '').replace(/\.$/, '')}`);
  if (event.kind === 'worker' && event.why !== null && (isShared || event.state === 'resting'))
    say(io, `  ${event.state}: ${event.why}`);
}

/** Works; after Ctrl-C ends what is under way. */
async function runUntilStopped(worker: Worker, grace: number, quiet: () => void, io: Io): Promise<void> {
  const leave = (): void => {
    quiet();
    say(io, `leaving: what is under way has ${span(grace)} to end; a second Ctrl-C ends at once`);
    worker.leave(grace);
  };
  io.signal.addEventListener('abort', leave, { once: true });
  if (io.signal.aborted) leave();
  try {
    await worker.run();
  } finally {
    io.signal.removeEventListener('abort', leave);
  }
}
