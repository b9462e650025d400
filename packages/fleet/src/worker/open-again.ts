import { laneKey } from '../lanes/keys.ts';
import { grow, newLane, reopen } from '../lanes/lane.ts';
import type { LaneValue } from '../lanes/values.ts';
import type { Ledger } from '../proof/ledger.ts';
import { changeEntry } from './change-entry.ts';
import type { TurnContext } from './turn.ts';

/**
 * Makes parcels ones to be read again: first in the target, where it counts, then in the lanes. Lanes also take in parcels that the
 * plan has got since. Whoever is stopped in between leaves parcels without a verdict, which the next close of the account finds.
 */
export async function openAgain(
  { board, target, job }: Pick<TurnContext, 'board' | 'target' | 'job'>,
  account: string,
  { plan, verdicts }: Ledger,
  indexes: readonly number[],
): Promise<void> {
  for (const index of indexes) {
    const parcel = plan.parcels[index];
    if (parcel !== undefined && verdicts[index]) await target.reopen(account, parcel);
  }
  const reopened = indexes.map((index) => ({
    index,
    records: verdicts[index]?.records ?? 0,
    bytes: verdicts[index]?.bytes ?? 0,
  }));
  for (let k = 0; k < job.lanes; k += 1) {
    const key = laneKey(account, k);
    const all = plan.parcels.length;
    // A lane that the board has lost begins again: what is committed is found to be done.
    if (board.get(key) === undefined && (await board.write(key, { ...newLane(k, all) }, 0)) !== null)
      continue;
    await changeEntry<LaneValue>(board, key, (lane) => reopen(grow(lane, all), k, job.lanes, reopened));
  }
}
