import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import type { Board } from '../board/board.ts';
import { FleetError } from '../errors.ts';
import { jobOn } from '../lanes/board-values.ts';
import { jobKey } from '../lanes/keys.ts';
import type { JobValue } from '../lanes/values.ts';
import { changeEntry } from '../worker/change-entry.ts';

/** What an order did to a job. */
export interface OrderResult {
  /** Its state before. It is that of now when there was nothing to do: a cancelled job is neither paused nor resumed. */
  readonly before: JobValue['state'];
  /** Its state now. */
  readonly state: JobValue['state'];
}

const pauseOptions = defineOptions({
  /** Also drop the parcels that are being read: they are read again later. Default: they are finished. */
  now: option.flag().default(false),
});

/** Settings of `pauseJob`. */
export interface PauseOptions extends OptionsOf<typeof pauseOptions> {}

/**
 * Pauses a job: no worker takes anything new, and what is under way is finished. Syncs pause too.
 *
 * @example
 * const board = await openBoard('nats://n1,n2,n3', 'history');
 * await pauseJob(board);
 */
export function pauseJob(board: Board, options: PauseOptions = {}): Promise<OrderResult> {
  const { now } = pauseOptions.read(options);
  return setState(board, (job) => (job.state === 'cancelled' ? job : { ...job, state: 'paused', now }));
}

/** Lets a paused job go on. A cancelled one stays cancelled until it is planned again. */
export function resumeJob(board: Board): Promise<OrderResult> {
  return setState(board, (job) =>
    job.state === 'cancelled' ? job : { ...job, state: 'running', now: false },
  );
}

/**
 * Ends a job: workers finish what they are reading and leave. What lies in the target stays, with its plans and verdicts; planning the
 * job once more takes it up again.
 */
export function cancelJob(board: Board): Promise<OrderResult> {
  return setState(board, (job) => ({ ...job, state: 'cancelled', now: false }));
}

async function setState(board: Board, change: (job: JobValue) => JobValue): Promise<OrderResult> {
  const job = heldJob(board);
  let before = job.state;
  const written = await changeEntry<JobValue>(board, jobKey, (value) => {
    before = value.state;
    const next = change(value);
    return next.state === value.state && next.now === value.now ? null : next;
  });
  return { before, state: written?.value.state ?? before };
}

/** The job on a board. Throws when there is none. */
export function heldJob(board: Board): JobValue {
  const job = jobOn(board);
  if (job !== null) return job.value;
  throw new FleetError(
    'unknown_job',
    `${board.name} has no such job. Plan it first, or name another board or job.`,
  );
}
