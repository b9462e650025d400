import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';

/** A job as it is kept in a target. */
export const writePinned = (job: PinnedJob): string => JSON.stringify({ format: 1, job });

/** The job that is kept in a target. Throws `job_newer` when a later release wrote it, `target_unfit` when it is something else. */
export function readPinned(text: string, target: string): PinnedJob {
  const { format, job } = parsed(text) ?? {};
  if (format === 1 && job) return job;
  if (typeof format !== 'number' || format === 1) {
    throw new FleetError(
      'target_unfit',
      `What ${target} keeps as its job is not one that a fleet wrote. Use an empty place.`,
    );
  }
  throw new FleetError('job_newer', `A later release planned the job in ${target}. Update this program.`);
}

function parsed(text: string): { format?: unknown; job?: PinnedJob } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
