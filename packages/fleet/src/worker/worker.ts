import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError } from '@call-attribution/core/errors';
import { durationMillis } from '@call-attribution/core/time';
import type { Board } from '../board/board.ts';
import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';
import type { JobValue } from '../lanes/values.ts';
import type { Target } from '../target/target.ts';
import { version } from '../version.ts';
import { publishEvent } from './channels.ts';
import { createClients, type LimiterOf } from './clients.ts';
import type { WorkerEvent } from './events.ts';
import { jobOn } from './job-on.ts';
import { createPlans } from './plans.ts';
import type { AccountTurn } from './turn.ts';
import { observedLimiter } from './wait-for-rate.ts';
import { type WorkerEnd, WorkLoop } from './work-loop.ts';
import {
  type Worker,
  type WorkerOptions,
  type WorkerSettings,
  type WorkerSummary,
  workerOptions,
} from './worker-options.ts';

/** Parts of a worker that are made elsewhere. */
export interface WorkerParts {
  readonly openTarget: (job: PinnedJob, options: { scratch?: string | undefined }) => Promise<Target>;
  readonly closeAccount: AccountTurn;
  readonly syncAccount: AccountTurn;
  /** Makes the limiters that a worker shares with all others of the job. The signal ends them with the worker. */
  readonly limiters: (board: Board, job: PinnedJob, signal: AbortSignal) => LimiterOf;
}

/** Time that a worker has to end what is under way, unless `leave` says otherwise. */
const usualGrace = '30s';

/** Creates a worker of these parts. */
export function createWorkerWith(parts: WorkerParts, options: WorkerOptions): Worker {
  const settings = workerOptions.read(options);
  const { board, name = randomName(), ttl: ttlMs, wait, onEvent } = settings;
  if (ttlMs === 0) throw new ConfigurationError('invalid_option', 'ttl is 0; expected more, such as 30s.');
  const leaving = new AbortController();
  const counts = newCounts();
  let loop: WorkLoop | null = null;
  let grace = 0;
  let running: Promise<WorkerSummary> | null = null;

  const emit = (event: WorkerEvent): void => {
    count(counts, event);
    publishEvent(event);
    onEvent?.(event);
  };
  const leave = (ms: number): void => {
    grace = ms;
    leaving.abort();
    loop?.leave(ms);
  };

  const work = async (): Promise<WorkerEnd> => {
    const value = await jobFor(board, wait, leaving.signal);
    if (value === null) return 'left';
    const run = { job: value.job, name, ttlMs, emit, counts };
    return withLoop(parts, settings, run, (made) => {
      loop = made;
      if (leaving.signal.aborted) loop.leave(grace);
      return loop.run();
    });
  };

  return {
    name,
    run(signal) {
      if (running !== null)
        throw new ConfigurationError('invalid_argument', 'A worker runs once. Create another one.');
      const drop = (): void => leave(0);
      if (signal?.aborted) drop();
      signal?.addEventListener('abort', drop, { once: true });
      running = work()
        .then((end) => ({ name, end, ...counts, parcels: { ...counts.parcels } }))
        .finally(() => signal?.removeEventListener('abort', drop));
      return running;
    },
    async leave(given = usualGrace) {
      leave(durationMillis(given, 'grace'));
      // Whoever runs it hears of its errors.
      await running?.catch(() => {});
    },
  };
}

interface Run {
  readonly job: PinnedJob;
  readonly name: string;
  readonly ttlMs: number;
  readonly emit: (event: WorkerEvent) => void;
  readonly counts: Readonly<Counts>;
}

/** Opens what a loop over a job needs, runs it, and closes everything. */
async function withLoop(
  parts: WorkerParts,
  settings: WorkerSettings,
  { job, name, ttlMs, emit, counts }: Run,
  run: (loop: WorkLoop) => Promise<WorkerEnd>,
): Promise<WorkerEnd> {
  const { board } = settings;
  const target = settings.target ?? (await parts.openTarget(job, { scratch: settings.scratch }));
  const over = new AbortController();
  const limiterOf = parts.limiters(board, job, over.signal);
  const observed: LimiterOf = (account) => observedLimiter(limiterOf(account), emit);
  const clients = createClients(job, settings.credentials, observed, settings);
  try {
    await checkJob(target, job);
    const plans = createPlans(target);
    const context = {
      ...{ board, target, job, holder: name, version, emit },
      clientOf: clients.of,
      refused: clients.refused,
      planOf: plans.of,
      clock: settings.clock,
    };
    const loop = new WorkLoop({
      context,
      closeAccount: parts.closeAccount,
      syncAccount: parts.syncAccount,
      slots: settings.slots,
      ttlMs,
      random: settings.random,
      sums: () => ({ records: counts.records, requests: counts.requests }),
      trim: clients.trim,
    });
    return await run(loop);
  } finally {
    over.abort();
    await clients.close();
    if (settings.target === undefined) await target.close();
  }
}

/** The job on the board; null when the worker left while it waited for one. */
async function jobFor(board: Board, waits: boolean, signal: AbortSignal): Promise<JobValue | null> {
  for (;;) {
    if (signal.aborted) return null;
    const value = jobOn(board);
    if (value !== null) return value;
    if (!waits)
      throw new FleetError('unknown_job', `${board.name} has no such job.`, {
        hint: 'Plan it first: calls fleet plan <job.json>.',
      });
    await board.changed({ signal });
  }
}

/** Refuses to write records of one job between those of another. */
async function checkJob(target: Target, job: PinnedJob): Promise<void> {
  if (isDeepStrictEqual(await target.pin(job), job)) return;
  throw new FleetError(
    'job_differs',
    `${target.name} holds job ${job.name} with other settings than the board.`,
    { hint: 'Plan the job again: the settings in the target stay.' },
  );
}

const randomName = (): string =>
  `w-${hostname().split('.')[0]?.slice(0, 40) ?? ''}-${randomBytes(2).toString('hex')}`;

type Counts = { -readonly [name in keyof Omit<WorkerSummary, 'name' | 'end' | 'parcels'>]: number } & {
  readonly parcels: Record<keyof WorkerSummary['parcels'], number>;
};

const newCounts = (): Counts => ({
  parcels: { committed: 0, done: 0, lost: 0, later: 0, aside: 0, dropped: 0 },
  records: 0,
  requests: 0,
  bytes: 0,
});

function count(counts: Counts, event: WorkerEvent): void {
  if (event.kind !== 'parcel') return;
  counts.parcels[event.outcome] += 1;
  counts.records += event.records;
  counts.requests += event.requests;
  counts.bytes += event.bytes;
}
