import { FileLockedError } from '@call-attribution/node-stream/files';
import { FleetError } from '../errors.ts';
import type { PlannedJob } from '../job.ts';

type Take = (job: PlannedJob) => Promise<() => Promise<void>>;

/** A lock that several workers of one process hold together. */
export function heldOnce(take: Take): Take {
  let holders = 0;
  let held: Promise<() => Promise<void>> | null = null;
  return async (job) => {
    holders += 1;
    held ??= take(job);
    let unlock: () => Promise<void>;
    try {
      unlock = await held;
    } catch (error) {
      holders -= 1;
      held = null;
      throw error;
    }
    return async () => {
      holders -= 1;
      if (holders > 0) return;
      held = null;
      await unlock();
    };
  };
}

/** Takes the lock of a file. One that somebody else has is the target's. */
export async function lockedBy(
  name: string,
  lock: () => Promise<() => Promise<void>>,
): Promise<() => Promise<void>> {
  try {
    return await lock();
  } catch (cause) {
    if (!(cause instanceof FileLockedError)) throw cause;
    throw new FleetError('target_locked', `Another process works on ${name}: ${cause.summary}`, {
      hint: 'Wait for it, or let several processes share the work: set CALLS_FLEET=postgres://user@host/name for all of them.',
      cause,
    });
  }
}
