import type { Board } from '../board/board.ts';
import { FleetError } from '../errors.ts';
import { jobOn as seenOn } from '../lanes/board-values.ts';
import { boardFormat, type JobValue } from '../lanes/values.ts';

/** The job on a board; null when it has none. Throws `job_newer` when a later release has planned it. */
export function jobOn(board: Board): JobValue | null {
  const value = seenOn(board)?.value ?? null;
  if (value === null || value.format <= boardFormat) return value;
  throw new FleetError(
    'job_newer',
    `The job on ${board.name} has format ${value.format}, this release knows formats up to ${boardFormat}.`,
    { hint: 'Update this program.' },
  );
}
