import type { Board } from '../board/board.ts';
import { FleetError } from '../errors.ts';
import { jobKey } from '../lanes/keys.ts';
import { boardFormat, type JobValue } from '../lanes/values.ts';

/** The job on a board; null when it has none. Throws `job_newer` when a later release has planned it. */
export function jobOn(board: Board): JobValue | null {
  const plain = board.get(jobKey)?.value;
  if (typeof plain !== 'object' || plain === null || 'gone' in plain) return null;
  const value = plain as unknown as JobValue;
  if (value.format <= boardFormat) return value;
  throw new FleetError(
    'job_newer',
    `The job on ${board.name} has format ${value.format}, this release knows formats up to ${boardFormat}.`,
    { hint: 'Update this program.' },
  );
}
