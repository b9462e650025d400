import type { Clock } from '@call-attribution/core';
import type { CredentialSource } from '../credentials.ts';
import type { Engine } from '../engine/engine.ts';
import type { PlannedJob } from '../job.ts';
import type { Target } from '../turn/turn.ts';
import type { Sending } from './clients.ts';
import type { WorkerEvent } from './events.ts';

/** How a worker works. */
export interface WorkerOptions extends Sending {
  /** The job, from the worker's own file. */
  readonly job: PlannedJob;
  /** Reads the file again; null when it has not changed. What it throws is reported, and the worker goes on as before. */
  readonly reread?: () => Promise<PlannedJob | null>;
  readonly engine: Engine;
  readonly target: Target;
  readonly credentials: CredentialSource;
  /** Its name, which must be its own. */
  readonly name: string;
  /** Turns at a time. Default 4. */
  readonly slots?: number;
  /** What it does, for logs and metrics. */
  readonly onEvent?: (event: WorkerEvent) => void;
  readonly clock?: Pick<Clock, 'now'>;
}
