import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';

/** A job as it is kept in a target. */
export const writePinned = (job: PinnedJob): string => JSON.stringify({ format: 1, job });

/** The job that is kept in a target. Throws `job_newer` when a later release wrote it. */
export function readPinned(text: string, target: string): PinnedJob {
  const { format, job } = JSON.parse(text) as { format: unknown; job: PinnedJob };
  if (format === 1) return job;
  throw new FleetError('job_newer', `A later release planned the job in ${target}. Update this program.`);
}
