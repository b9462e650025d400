import type { Fetch, RequestDispatcher } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import type { Duration } from '@call-attribution/core/time';
import type { Board } from '../board/board.ts';
import type { CredentialSource } from '../job/credentials.ts';
import type { Target } from '../target/target.ts';
import type { WorkerEvent } from './events.ts';
import type { WorkerEnd } from './work-loop.ts';

/** The options of a worker. */
export const workerOptions = defineOptions({
  /** The board of the job. It stays open when the worker ends. */
  board: option
    .methods<Board>('a board, as openBoard makes it', 'get', 'entries', 'write', 'changed')
    .required(),
  /** Finds the credentials of an account, see `credentialsFrom`. */
  credentials: option.callback<CredentialSource>().required(),
  /** Where records go. It stays open when the worker ends. Default: what the job names is opened, and closed. */
  target: option.methods<Target>('a target, as openTarget makes it', 'claim', 'planOf'),
  /** A folder for parts that are put into a bucket. Default: one in the folder of the system for temporary files. */
  scratch: option.string(),
  /** Name of the worker, of which there must be no other. Default: made of the name of the machine and a random part. */
  name: option.string(),
  /** Parcels that are read at the same time, or `auto`: as many as the process has time and memory for. Default `auto`. */
  slots: option.whole(1).or(option.only('auto')).default('auto'),
  /** Silence after which a worker counts as dead. The same for all workers of a job. Default `30s`. */
  ttl: option.duration().default('30s'),
  /** Wait for the job when the board does not have it yet. Default: fail with `unknown_job`. */
  wait: option.flag().default(false),
  /** A number from 0 up to 1, for the choice among what is ready and the jitter of waits. Default `Math.random`. */
  random: option.callback<() => number>().default(() => Math.random()),
  /** The worker's clock. Default: that of the machine. */
  clock: option.clock(),
  /** Called with everything that the worker does. Must not throw. */
  onEvent: option.callback<(event: WorkerEvent) => void>(),
  /** Sends requests with this function instead. */
  fetch: option.callback<Fetch>(),
  /** Sends requests with this dispatcher of undici. It stays open when the worker ends. */
  dispatcher: option.methods<RequestDispatcher>('a dispatcher', 'dispatch'),
});

/** How a worker works. */
export interface WorkerOptions extends OptionsOf<typeof workerOptions> {}
/** The same with the defaults. */
export interface WorkerSettings extends ReadOf<typeof workerOptions> {}

/** What a worker has done. */
export interface WorkerSummary {
  /** Its name. */
  readonly name: string;
  /** Why it ended: there is nothing left, the job was cancelled, or it left. */
  readonly end: WorkerEnd;
  /** Parcels by what came of them. */
  readonly parcels: Readonly<Record<Extract<WorkerEvent, { kind: 'parcel' }>['outcome'], number>>;
  /** Records it has committed. */
  readonly records: number;
  /** Requests that they took. */
  readonly requests: number;
  /** Their bytes in files. */
  readonly bytes: number;
}

/** Reads parcels, closes accounts and keeps them up to date. */
export interface Worker {
  /** Its name. */
  readonly name: string;
  /**
   * Works until every account is done or set aside, or the job is cancelled; with a sync in the job it goes on. With the signal
   * it drops what is under way and leaves. Once only.
   */
  run(signal?: AbortSignal): Promise<WorkerSummary>;
  /** Takes nothing new, ends what is under way within `grace` (default `30s`), drops the rest and gives it back. */
  leave(grace?: Duration): Promise<void>;
}
