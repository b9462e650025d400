import { FleetError } from '../errors.ts';
import type { AccountPlan } from '../parcels/parcel.ts';
import type { Target } from '../target/target.ts';

/** The plans of accounts that a worker works on. */
export interface Plans {
  /** The plan of an account, which has at least so many parcels. */
  of(account: string, parcels: number): Promise<AccountPlan>;
}

/** Plans that are kept: a thousand parcels are about 100 KB. */
const most = 64;

/** Reads plans from the target, and again when they were continued. */
export function createPlans(target: Target): Plans {
  const plans = new Map<string, AccountPlan>();
  return {
    async of(account, parcels) {
      const known = plans.get(account);
      if (known !== undefined && known.parcels.length >= parcels) return known;
      const plan = await target.planOf(account);
      if (plan === null)
        throw new FleetError(
          'target_unfit',
          `The board has account ${account}, ${target.name} has no plan of it. Plan the job again.`,
        );
      plans.delete(account);
      plans.set(account, plan);
      const [oldest] = plans.keys();
      if (plans.size > most && oldest !== undefined) plans.delete(oldest);
      return plan;
    },
  };
}
