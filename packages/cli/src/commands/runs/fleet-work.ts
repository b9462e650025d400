import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import {
  createWorker,
  createWorkerMetrics,
  type Engine,
  type FleetStatus,
  memoryEngine,
  openTarget,
  type PlannedJob,
  readJob,
  statusOf,
  type Target,
  type Worker,
  type WorkerEvent,
  workerName,
} from '@call-attribution/fleet';
import { type Args, interval } from '../../args.ts';
import { exitCodes, Interrupted, UsageError } from '../../errors.ts';
import { reasonText, whyText } from '../../fleet/status.ts';
import { type Io, say } from '../../io.ts';
import { storeUrl } from '../../stores/open.ts';
import { count, plural, span } from '../../terminal/numbers.ts';
import { progressLine, whileWaiting } from '../../terminal/waiting.ts';
import { serveStatus } from '../typed/repeat.ts';
import { credentialsOf, engineUrl, folderOf, openEngine } from './fleet-place.ts';

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
    const folder = folderOf(job.into, io);
    const into = folder === null ? storeUrl(job.into, io) : `folder:${folder}`;
    const target = await whileWaiting('waiting for the target', () => openTarget(into, io.env));
    try {
      return await workInto(target, { job, engine, slots, grace }, args, io);
    } finally {
      await target.close();
    }
  } finally {
    await engine.close();
  }
}

async function workInto(
  target: Target,
  { job, engine, slots, grace }: { job: PlannedJob; engine: Engine; slots: number; grace: number },
  args: Args,
  io: Io,
): Promise<number> {
  const { isShared } = engine;
  const name = args.text('name') ?? workerName(randomBytes(2).toString('hex'));
  const look = async (): Promise<FleetStatus | null> =>
    statusOf(await engine.look(), io.clock.now());
  const metrics = createWorkerMetrics(() => worker, look);
  const isLog = args.flag('log');

  const onEvent = (event: WorkerEvent): void => {
    metrics.observe(event);
    const { kind, ...facts } = event;
    const time = new Date(io.clock.now()).toISOString();
    if (isLog) say(io, JSON.stringify({ time, kind, worker: name, ...facts }));
    else if (event.kind === 'turn' && event.outcome === 'aside')
      say(
        io,
        `  ${event.account} is set aside: ${reasonText(event.code ?? 'failed', event.message)}`,
      );
    else if (
      event.kind === 'worker' &&
      event.why !== null &&
      (isShared || event.state === 'resting')
    )
      say(io, `  ${event.state}: ${event.why}`);
  };

  const { credentials } = await credentialsOf(job.accounts.values(), args, io);
  const worker: Worker = createWorker({
    job,
    engine,
    target,
    name,
    slots,
    onEvent,
    credentials,
    clock: io.clock,
  });
  const filter = job.filter ? `, filter ${job.filter}` : '';
  say(io, `${job.name}: ${plural(job.accounts.size, 'account')} into ${job.into}${filter}`);
  const stopStatus = await serveStatus(args, metrics, io);
  const where = isShared ? `shared by ${engine.name}` : 'in this process';
  say(io, `${name}: ${plural(slots, 'slot')}, ${where}; Ctrl-C stops it`);
  const line = progressLine(io, job.name);
  const timer = setInterval(
    async () => {
      const status = await look().catch(() => undefined);
      const { accounts, callsPerSecond, state, why } = worker.card;
      let note = `${accounts.length} of ${plural(slots, 'slot')}`;

      // The worker says itself whether the engine or the target is away. It joins the job once it
      // has its target.
      if (why !== null) note = `${state}: ${why}`;
      else if (status === null) note = 'waiting for the target';
      if (!io.signal.aborted)
        line.update({
          done: status?.calls ?? 0,
          total: status?.total ?? null,
          rate: callsPerSecond,
          note,
        });
    },
    io.stderr.isTTY === true ? 1_000 : 10_000,
  );
  if (isLog) clearInterval(timer);

  // After Ctrl-C what is under way is ended.
  const leave = (): void => {
    line.close();
    say(io, `leaving: what is under way has ${span(grace)} to end; a second Ctrl-C ends at once`);
    worker.leave(grace);
  };

  io.signal.addEventListener('abort', leave, { once: true });
  if (io.signal.aborted) leave();
  try {
    await whileWaiting(null, () => worker.run());
  } finally {
    io.signal.removeEventListener('abort', leave);
    clearInterval(timer);
    line.close();
    stopStatus();
  }

  if (io.signal.aborted)
    throw new Interrupted(['what was committed stays; the same command continues from there']);
  const status = await look();
  if (status === null) throw new Error('the engine has lost the job');
  return sayEnd(status, isShared, io);
}

/** Accounts with trouble that are named. */
const most = 10;

/** Says what has become of the job, and returns the exit status. */
function sayEnd({ job, into, accounts, calls }: FleetStatus, isShared: boolean, io: Io): number {
  const bad = accounts.filter(({ state, whole }) => state === 'aside' || whole !== true);
  const proved = `${count(accounts.length - bad.length)} of ${plural(accounts.length, 'account')} proved`;
  say(io, `${job}: ${proved}, ${plural(calls, 'call')} in ${into}`);
  for (const account of bad.slice(0, most)) {
    say(io, `  ${account.id}: ${whyText(account)}`);
    if (isShared) say(io, `  → calls fleet retry ${job} --account ${account.id}`);
  }

  if (bad.length > most) say(io, `  and ${plural(bad.length - most, 'more account')}`);

  // What is in memory is gone; the target knows what is committed.
  if (bad.length > 0 && !isShared)
    say(io, '  → correct the cause and run the same command again; it reads only what is missing');
  if (bad.length === 0) return exitCodes.ok;
  const areRefused = bad.every(({ trouble }) => trouble?.kind === 'credential');
  return areRefused && bad.length === accounts.length ? exitCodes.refused : exitCodes.incomplete;
}
