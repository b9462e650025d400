import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import type { Board } from '../board/board.ts';
import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';
import { jobOn, ratesOn } from '../lanes/board-values.ts';
import type { Phase } from '../lanes/values.ts';
import { type AccountStatus, readAccounts } from './account-status.ts';
import { type RateMemory, rateMemory, readWorkers, type WorkerStatus } from './worker-status.ts';

/** What is going on: what runs, what does not get on, and why. Plain JSON. */
export interface FleetStatus {
  /** The job as it was planned. */
  readonly job: PinnedJob;
  /** `done`: every account is final, or set aside. A job with a sync is never done. */
  readonly state: 'running' | 'paused' | 'cancelled' | 'done';
  /** Milliseconds since the job was planned, paused, resumed or cancelled. */
  readonly forMs: number;
  /** Accounts by phase. */
  readonly phases: Readonly<Record<Phase, number>>;
  /** Parcels of all plans that are committed, of how many, and how many were set aside. */
  readonly parcels: { readonly done: number; readonly total: number; readonly aside: number };
  /** Records that are committed, and records of all plans. */
  readonly records: { readonly done: number; readonly total: number };
  /** Records a second of all workers over the last minute that was seen; null after a single look. */
  readonly recordsPerSecond: number | null;
  /** The same of requests. */
  readonly requestsPerSecond: number | null;
  /** Milliseconds until the backfill is done at this rate; null when that is not known. */
  readonly leftMs: number | null;
  /** All workers that were seen. */
  readonly workers: readonly WorkerStatus[];
  /** Credentials with a rate: how many use all of it now, and how many the server asked to wait. */
  readonly rates: { readonly used: number; readonly held: number };
  /** Milliseconds since the last sync of the account that waits longest for one; null when no account is synced. */
  readonly syncLagMs: number | null;
  /** All accounts; those that do not get on come first. */
  readonly accounts: readonly AccountStatus[];
}

const statusOptions = defineOptions({
  /** The board time. Default: that of the board. */
  now: option.number(0),
  /** Silence after which a worker counts as dead. Default `30s`, which is also that of workers. */
  ttl: option.duration().default('30s'),
});
const readerOptions = defineOptions({ ttl: statusOptions.entries.ttl });

/** How a status is read. */
export interface StatusOptions extends OptionsOf<typeof statusOptions> {}

/**
 * Reads what is going on off the live copy of a board. Nothing is asked of a server. A single look does not know rates; see
 * `createStatusReader`. Throws `unknown_job` when the board has none.
 *
 * @example
 * const { phases, accounts } = readStatus(board);
 * for (const { id, trouble } of accounts) if (trouble) console.log(id, trouble.code);
 */
export function readStatus(board: Board, options: StatusOptions = {}): FleetStatus {
  return look(board, options, rateMemory());
}

/** Reads the status again and again, and knows rates from the second sign of life of a worker on. */
export interface StatusReader {
  /** What is going on, with rates once there were two looks. */
  read(now?: number): FleetStatus;
}

/**
 * A reader that remembers the last minute, for rates and the time left.
 *
 * @example
 * const status = createStatusReader(board);
 * setInterval(() => console.log(status.read().recordsPerSecond), 1000);
 */
export function createStatusReader(board: Board, options: Pick<StatusOptions, 'ttl'> = {}): StatusReader {
  readerOptions.check(options);
  const memory = rateMemory();
  return { read: (now) => look(board, { ...options, now }, memory) };
}

function look(board: Board, options: StatusOptions, memory: RateMemory): FleetStatus {
  const { now = board.now(), ttl } = statusOptions.read(options);
  const found = jobOn(board);
  if (found === null)
    throw new FleetError('unknown_job', `the board ${board.name} has no such job`, { hint: 'plan it first' });
  const { value, at } = found;
  const workers = readWorkers(board, now, ttl, memory);
  const accounts = readAccounts(board, now, value.job.lanes);
  const phases: Record<Phase, number> = { reading: 0, closing: 0, syncing: 0, final: 0, aside: 0 };
  let [done, records, aside, total, planned] = [0, 0, 0, 0, 0];
  for (const account of accounts) {
    phases[account.phase]++;
    done += account.parcels.done;
    aside += account.parcels.aside;
    planned += account.parcels.total;
    records += account.records.done;
    total += account.records.total;
  }
  const isOver = accounts.length > 0 && phases.reading + phases.closing + phases.syncing === 0;
  const recordsPerSecond = sumOf(workers.map(({ recordsPerSecond }) => recordsPerSecond));
  const open = phases.reading + phases.closing > 0 ? Math.max(0, total - records) : 0;
  return {
    job: value.job,
    state: value.state === 'running' && isOver ? 'done' : value.state,
    forMs: Math.max(0, now - at),
    phases,
    parcels: { done, total: Math.max(planned, value.parcels), aside },
    records: { done: records, total: Math.max(total, value.records) },
    recordsPerSecond,
    requestsPerSecond: sumOf(workers.map(({ requestsPerSecond }) => requestsPerSecond)),
    leftMs: recordsPerSecond !== null && recordsPerSecond > 0 ? (open / recordsPerSecond) * 1000 : null,
    workers,
    rates: readRates(board, now),
    syncLagMs: lagOf(accounts, now),
    accounts,
  };
}

/** Null while no part is known. */
function sumOf(parts: readonly (number | null)[]): number | null {
  const known = parts.filter((part) => part !== null);
  return parts.length > 0 && known.length === 0 ? null : known.reduce((sum, part) => sum + part, 0);
}

function readRates(board: Board, now: number): { used: number; held: number } {
  let [used, held] = [0, 0];
  for (const [, { value }] of ratesOn(board)) {
    if (value.until > now) held++;
    else if (value.due > now) used++;
  }
  return { used, held };
}

function lagOf(accounts: readonly AccountStatus[], now: number): number | null {
  let lag: number | null = null;
  for (const { phase, sync, verdict } of accounts) {
    if (phase !== 'syncing') continue;
    const last = sync?.at ?? verdict?.at ?? now;
    lag = Math.max(lag ?? 0, now - last);
  }
  return lag;
}
