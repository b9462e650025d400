import { instantOf, minute, naiveAt } from '@call-attribution/core/time';
import type { Batch } from '../fields/batch.ts';
import type { ReadSelection } from '../question/plan.ts';

/** Most quarters of an hour that are remembered. */
const most = 200_000;

/** How times are moved into the zone of an answer. */
export function shiftOf({ zones }: Pick<ReadSelection, 'zones'>): Batch['shift'] {
  const { timeZone, inZone } = zones;
  return timeZone === null || inZone === null ? null : zoneShift(timeZone, inZone);
}

/** Times of the records as they are shown in another zone. */
function zoneShift(timeZone: string, inZone: string): (naive: number) => number {
  const shown = (naive: number): number => naiveAt(instantOf(naive, timeZone).epochMs, inZone);
  // Between two clock changes the shift is the same, and no zone changes its clocks twice within a quarter of an hour.
  const block = 15 * minute;
  const shifts = new Map<number, number>();
  return (naive) => {
    const at = Math.floor(naive / block);
    const known = shifts.get(at);
    if (known !== undefined) return Number.isNaN(known) ? shown(naive) : naive + known;
    const [start, end] = [at * block, (at + 1) * block - 1];
    const shift = shown(start) - start;
    if (shifts.size >= most) shifts.clear();
    shifts.set(at, shift === shown(end) - end ? shift : Number.NaN);
    return shown(naive);
  };
}
