import { CallsError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { mapCalls } from '@call-attribution/node-stream/operators';
import type { Board, Json } from '../board/board.ts';
import { accountClients } from '../job/account-client.ts';
import type { CredentialSource } from '../job/credentials.ts';
import type { Job, JobAccount, PinnedJob } from '../job/job.ts';
import { checkSameJob, pinJob } from '../job/pin-job.ts';
import { checkJob } from '../job/read-job.ts';
import { accountsOn } from '../lanes/board-values.ts';
import { jobKey } from '../lanes/keys.ts';
import { boardFormat, type JobValue } from '../lanes/values.ts';
import { jobLimiters } from '../rate/job-limiters.ts';
import type { Target } from '../target/target.ts';
import { changeEntry } from '../worker/change-entry.ts';
import { jobOn } from '../worker/job-on.ts';
import { asideOf } from '../worker/set-aside.ts';
import { type Trouble, troubleOf } from '../worker/trouble.ts';
import { type PlanContext, planAccount, putAside } from './plan-account.ts';

const planOptions = defineOptions({
  /** The board of the job. */
  board: option.methods<Board>('a board, as openBoard opens it', 'write', 'entries').required(),
  /** The target of the job, opened with `pinJob(job)`. */
  target: option.methods<Target>('a target, as openTarget opens it', 'pin', 'plan').required(),
  /** Where credentials come from. */
  credentials: option.callback<CredentialSource>().required(),
  /** Accounts that are planned at the same time. Default 8. */
  concurrency: option.whole(1).default(8),
  /** Called after each account. */
  onProgress: option.callback<(done: number, of: number) => void>(),
  /** Ends it. What was planned stays, and the next run goes on. */
  signal: option.signal(),
  /** The clock. Default: that of the machine. */
  clock: option.clock(),
});

/** What `planJob` works with. */
export interface PlanOptions extends OptionsOf<typeof planOptions> {}

/** What a plan comes to. */
export interface PlanSummary {
  /** The job as it is kept. */
  readonly job: PinnedJob;
  /** Accounts on the board. */
  readonly accounts: number;
  /** Their parcels. */
  readonly parcels: number;
  /** Their records. */
  readonly records: number;
  /** Accounts that this run planned. */
  readonly planned: number;
  /** Requests that this run sent. */
  readonly requests: number;
  /** Accounts that could not be planned and were set aside. */
  readonly aside: readonly UnplannedAccount[];
}

/** An account that could not be planned. */
export interface UnplannedAccount {
  /** Id of the account. */
  readonly account: string;
  /** Code of the error. */
  readonly code: string;
  /** What happened, and the way back. */
  readonly message: string;
}

/**
 * Plans a job: cuts each account into parcels, keeps the plans in the target, and puts job, accounts and lanes on the board, where
 * workers find them. It can be run again at any time, by two at once too: it continues where another run ended, and adds accounts
 * that are new. A job that differs from the one that was planned is refused with `job_differs`. Accounts that cannot be planned, such
 * as those whose keys are refused, are set aside on the board, and the others are planned.
 *
 * @example
 * const job = await readJob('history.json');
 * await using board = await openBoard('nats://n1,n2,n3', job.name);
 * await using target = await openTarget(job.into, pinJob(job));
 * const plan = await planJob(job, { board, target, credentials: credentialsFrom({ folder: 'keys' }) });
 * console.log(plan.accounts, plan.parcels, plan.records);
 */
export async function planJob(job: Job, options: PlanOptions): Promise<PlanSummary> {
  const { board, target, credentials, concurrency, onProgress, signal, clock } = planOptions.read(options);
  await checkJob(job);
  signal?.throwIfAborted();
  const pinned = await pin(job, pinJob(job, clock.now()), board, target);
  await putJob(board, pinned, job.accounts);
  const context: PlanContext = {
    board,
    target,
    job: pinned,
    reach: accountClients({ ...pinned, credentials, limiterOf: jobLimiters(board, pinned, signal) }),
    signal,
  };
  let [done, planned, requests] = [0, 0, 0];
  const aside: UnplannedAccount[] = [];
  const plan = async (account: JobAccount): Promise<JobAccount> => {
    signal?.throwIfAborted();
    try {
      const outcome = await planAccount(context, account);
      if (!outcome.isKnown) planned += 1;
      requests += outcome.requests;
    } catch (error) {
      signal?.throwIfAborted();
      const why = asideOf({ board, holder: 'plan', job: pinned }, account.id, troubleWith(error));
      await putAside(context, account, why);
      aside.push({ account: account.id, code: why.code, message: why.message });
    }
    done += 1;
    onProgress?.(done, job.accounts.length);
    return account;
  };
  for await (const _ of mapCalls(plan, { concurrency })(job.accounts));
  return { job: pinned, ...(await countJob(board)), planned, requests, aside };
}

/** The job as it is kept: on the board, in the target, or given now for the first time. */
async function pin(job: Job, wanted: PinnedJob, board: Board, target: Target): Promise<PinnedJob> {
  const onBoard = jobOn(board)?.job;
  if (onBoard !== undefined) checkSameJob(job, wanted, onBoard, board.name);
  const held = await target.pin(onBoard ?? wanted);
  checkSameJob(job, onBoard ?? wanted, held, target.name);
  return held;
}

/** Tells workers how many accounts there will be, so that none takes the job for done while it is planned. */
async function putJob(board: Board, job: PinnedJob, accounts: readonly JobAccount[]): Promise<void> {
  const ids = new Set(accounts.map(({ id }) => id));
  for (const [, { value }] of accountsOn(board)) ids.add(value.id);
  const value: JobValue = {
    ...{ format: boardFormat, state: 'running', now: false, job },
    ...{ accounts: ids.size, parcels: 0, records: 0 },
  };
  if ((await board.write(jobKey, value as unknown as Json, 0)) !== null) return;
  await changeEntry<JobValue>(board, jobKey, (held) => ({
    ...held,
    // Planning it once more is how a cancelled job is taken up again.
    state: held.state === 'cancelled' ? 'running' : held.state,
    accounts: Math.max(held.accounts, ids.size),
  }));
}

/** Writes the sums over all accounts on the board. */
async function countJob(board: Board): Promise<Pick<JobValue, 'accounts' | 'parcels' | 'records'>> {
  const sums = { accounts: 0, parcels: 0, records: 0 };
  for (const [, { value }] of accountsOn(board)) {
    sums.accounts += 1;
    sums.parcels += value.parcels;
    sums.records += value.total;
  }
  await changeEntry<JobValue>(board, jobKey, (held) => ({
    ...held,
    ...sums,
    accounts: Math.max(held.accounts, sums.accounts),
  }));
  return sums;
}

/** The trouble of one account. What concerns all of them is thrown. */
function troubleWith(error: unknown): Trouble {
  const trouble = troubleOf(error);
  const isOfAll = trouble.kind === 'target' || trouble.kind === 'board' || trouble.kind === 'lost';
  if (!CallsError.is(error) || isOfAll || error.code === 'invalid_option') throw error;
  return trouble;
}
