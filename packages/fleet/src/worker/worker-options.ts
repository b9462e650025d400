import type { Clock, Fetch, RequestDispatcher } from '@call-attribution/core';
import type { CredentialSource } from '../credentials.ts';
import type { Engine } from '../engine/engine.ts';
import type { PlannedJob } from '../job.ts';
import type { Target } from '../targets/target.ts';
import type { WorkerEvent } from './events.ts';

/** How a worker works. */
export interface WorkerOptions {
  /** The job, from the worker's own file. */
  readonly job: PlannedJob;
  /** Hands out the tickets. */
  readonly engine: Engine;
  /** Where calls are written to. */
  readonly target: Target;
  /** Finds the credentials of an account. */
  readonly credentials: CredentialSource;
  /** Its name, which must be its own. */
  readonly name: string;
  /** Turns at a time. Default 4. */
  readonly slots?: number;
  /** What it does, for logs and metrics. */
  readonly onEvent?: (event: WorkerEvent) => void;
  /** Tells the time. Default: that of the system. */
  readonly clock?: Pick<Clock, 'now'>;
  /** Sends requests, as in `createClient`. */
  readonly fetch?: Fetch | undefined;
  /** A dispatcher of undici, as in `createClient`. */
  readonly dispatcher?: RequestDispatcher | undefined;
}
