import { openSlices } from '@call-attribution/node-stream';
import type { AccountPlan, ParcelVerdict } from '../parcels/parcel.ts';

/** What was committed of a plan. */
export interface Ledger {
  readonly plan: AccountPlan;
  /** The verdict of each parcel, by its index; null where none counts. */
  readonly verdicts: readonly (ParcelVerdict | null)[];
  /** Indexes of the parcels without a verdict. */
  readonly missing: readonly number[];
  /** The parcels do not cover the plan: somebody has changed it, and it proves nothing. */
  readonly isTorn: boolean;
}

/** Records that the server has for a verdict: those that could not be parsed are there too. */
export const onServer = ({ records, skipped }: ParcelVerdict): number => records + skipped;

/** Records that lie in the target for a verdict: a store leaves out those of erased callers. */
export const inTarget = ({ records, leftOut }: ParcelVerdict): number => records - leftOut;

/** Puts verdicts next to the parcels of a plan. A verdict about another stretch than its parcel has does not count. */
export async function ledgerOf(
  plan: AccountPlan,
  committed: AsyncIterable<ParcelVerdict> | Iterable<ParcelVerdict>,
): Promise<Ledger> {
  const { parcels, from, to } = plan;
  const verdicts: (ParcelVerdict | null)[] = parcels.map(() => null);
  for await (const verdict of committed) {
    const parcel = parcels[verdict.index];
    if (parcel?.from === verdict.from && parcel.to === verdict.to) verdicts[verdict.index] = verdict;
  }
  const missing = verdicts.flatMap((verdict, index) => (verdict === null ? [index] : []));
  const isTorn = parcels.length > 0 && openSlices(parcels, { from, to }).length > 0;
  return { plan, verdicts, missing, isTorn };
}
