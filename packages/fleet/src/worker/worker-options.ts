import type { Fetch, RequestDispatcher } from '@call-attribution/core';
import {
  either,
  kinds,
  type OptionKind,
  type OptionShape,
  only,
  whole,
  withMethods,
} from '@call-attribution/core/errors';
import type { Duration } from '@call-attribution/core/time';
import type { Board } from '../board/board.ts';
import type { CredentialSource } from '../job/credentials.ts';
import type { Target } from '../target/target.ts';
import type { WorkerEvent } from './events.ts';
import type { WorkerEnd } from './work-loop.ts';

/** How a worker works. */
export interface WorkerOptions {
  /** The board of the job. It stays open when the worker ends. */
  readonly board: Board;
  /** Finds the credentials of an account, see `credentialsFrom`. */
  readonly credentials: CredentialSource;
  /** Where records go. It stays open when the worker ends. Default: what the job names is opened, and closed. */
  readonly target?: Target | undefined;
  /** A folder for parts that are put into a bucket. Default: one in the folder of the system for temporary files. */
  readonly scratch?: string | undefined;
  /** Name of the worker, of which there must be no other. Default: made of the name of the machine and a random part. */
  readonly name?: string | undefined;
  /** Parcels that are read at the same time, or `auto`: as many as the process has time and memory for. Default `auto`. */
  readonly slots?: number | 'auto' | undefined;
  /** Silence after which a worker counts as dead. The same for all workers of a job. Default `30s`. */
  readonly ttl?: Duration | undefined;
  /** Wait for the job when the board does not have it yet. Default: fail with `unknown_job`. */
  readonly wait?: boolean | undefined;
  /** A number from 0 up to 1, for the choice among what is ready and the jitter of waits. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** The worker's clock, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Called with everything that the worker does. Must not throw. */
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
  /** Sends requests with this function instead. */
  readonly fetch?: Fetch | undefined;
  /** Sends requests with this dispatcher of undici. It stays open when the worker ends. */
  readonly dispatcher?: RequestDispatcher | undefined;
}

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
  /** Takes nothing new, ends what is under way within `graceMs` (default 30,000), drops the rest and gives it back. */
  leave(graceMs?: number): Promise<void>;
}

/** What the options may be. */
export const workerShape = {
  board: withMethods('a board, as openBoard makes it', 'get', 'entries', 'write', 'changed'),
  credentials: kinds.callback,
  target: withMethods('a target, as openTarget makes it', 'claim', 'planOf'),
  scratch: kinds.string,
  name: kinds.string,
  slots: either(whole(1), only('auto')),
  ttl: kinds.anything,
  wait: kinds.flag,
  random: kinds.callback,
  now: kinds.callback,
  onEvent: kinds.callback,
  fetch: kinds.callback,
  dispatcher: withMethods('a dispatcher', 'dispatch'),
} satisfies OptionShape & Record<keyof WorkerOptions, OptionKind>;
