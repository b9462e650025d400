import { openSlices } from '@call-attribution/node-stream';
import { FleetError } from '../errors.ts';
import type { AccountPlan, ParcelVerdict } from '../parcels/parcel.ts';

/** What was committed of a plan. */
export interface Ledger {
  readonly plan: AccountPlan;
  /** The verdict of each parcel, by its index; null where none counts. */
  readonly verdicts: readonly (ParcelVerdict | null)[];
  /** Indexes of the parcels without a verdict. */
  readonly missing: readonly number[];
}

/** Records that the server has for a verdict: those that could not be parsed are there too. */
export const onServer = ({ records, skipped }: ParcelVerdict): number => records + skipped;

/** Records that lie in the target for a verdict: a store leaves out those of erased callers. */
export const inTarget = ({ records, leftOut }: ParcelVerdict): number => records - leftOut;

/**
 * Puts verdicts next to the parcels of a plan. A verdict about another stretch than its parcel has does not count. Throws when all
 * parcels are committed and the plan is still not covered: then the plan itself has a gap.
 */
export async function ledgerOf(
  account: string,
  plan: AccountPlan,
  committed: AsyncIterable<ParcelVerdict> | Iterable<ParcelVerdict>,
): Promise<Ledger> {
  const verdicts: (ParcelVerdict | null)[] = plan.parcels.map(() => null);
  for await (const verdict of committed) {
    const parcel = plan.parcels[verdict.index];
    if (parcel?.from === verdict.from && parcel.to === verdict.to) verdicts[verdict.index] = verdict;
  }
  const missing = verdicts.flatMap((verdict, index) => (verdict === null ? [index] : []));
  const isWhole =
    plan.parcels.length === 0 ||
    missing.length > 0 ||
    openSlices(plan.parcels, { from: plan.from, to: plan.until }).length === 0;
  if (isWhole) return { plan, verdicts, missing };
  throw new FleetError(
    'target_unfit',
    `The plan of account ${account} has a gap between ${plan.from ?? 'its beginning'} and ${plan.until}, so nothing proves its records whole. Somebody has changed the plan in the target: restore it, or read the account again under another job name.`,
  );
}
