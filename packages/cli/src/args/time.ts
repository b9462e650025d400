import { formatNaive } from '@call-attribution/core/time';
import { readPeriod, type SaidPeriod } from '@call-attribution/questions';
import { UsageError } from '../errors.ts';

/** What a relative time is counted from. Without a time zone only absolute times can be read. */
export interface Present {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string | null;
}

/** A half-open range of naive times; an open end is null. */
export interface NaiveRange {
  readonly from: string | null;
  readonly to: string | null;
}

/** A range that was read. */
export interface ReadRange extends NaiveRange {
  /** Whether it is another one each day, as `yesterday` is. */
  readonly moves: boolean;
}

/** Reads `--period`, or `--from` and `--to`, as the two ends of a range; an open end is null. */
export function readRange(typed: SaidPeriod, present: Present): ReadRange {
  const { from, to, moves } = readPeriod(typed, present);
  if (moves)
    needZone(
      present,
      Object.values(typed)
        .map((text) => JSON.stringify(text))
        .join(' to '),
    );
  return { from: from === null ? null : formatNaive(from), to: to === null ? null : formatNaive(to), moves };
}

/** The time zone whose clock words such as `yesterday` go by. */
function needZone(present: Pick<Present, 'timeZone'>, what: string): string {
  if (present.timeZone !== null) return present.timeZone;
  throw new UsageError(`${what} needs a time zone: the API does not say which time zone its times are in`, {
    hints: ['add --time-zone America/New_York (the time zone of the account), or set CALLS_TIME_ZONE'],
  });
}
