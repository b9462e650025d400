import { formatNaive } from '@call-attribution/core/time';
import { checkZone, periodNotes, readPeriod as readSaid, type SaidPeriod } from '@call-attribution/questions';
import type { Period } from '../copy/copy.ts';
import { questionFailure } from '../text/question-failure.ts';

/** Reads a period as agents write it, in the zone of the answer; with what has to be said about it. */
export function readPeriod(
  { period, from, to }: SaidPeriod,
  inZone: string | undefined,
  { now, timeZone }: { now(zone?: string): number; readonly timeZone?: string },
): Period & { readonly notes: readonly string[] } {
  try {
    if (inZone !== undefined) checkZone('time_zone', inZone);
    const clock = { now: now('UTC'), timeZone: inZone ?? timeZone };
    const said = readSaid({ period, from, to }, clock);
    const [start = null, end = null] = [said.from, said.to].map((time) =>
      time === null ? null : formatNaive(time),
    );
    return { from: start, to: end, notes: periodNotes(said, clock).map(({ message }) => message) };
  } catch (error) {
    throw questionFailure(error);
  }
}
