import { formatNaive, parseNaive, second } from '@call-attribution/core/time';
import type { BoundStyle } from '@call-attribution/node-stream';
import { FleetError } from '../errors.ts';
import type { AccountPlan } from '../parcels/parcel.ts';

/** A plan as it is kept in a target: parcels lie end to end, so widths and totals are all there is. */
export interface PlanRecord {
  readonly format: 1;
  /** Name of the job. */
  readonly job: string;
  /** The account, since some file systems take `A1` and `a1` for the same name. */
  readonly account: string;
  readonly bounds: BoundStyle;
  readonly from: string | null;
  readonly to: string;
  /** Where the first parcel ends; its beginning may be open. Null without parcels. */
  readonly firstEnd: string | null;
  /** Seconds of each further parcel. */
  readonly widths: readonly number[];
  /** Records of each parcel when it was planned. */
  readonly totals: readonly number[];
}

/** A plan as it is kept. */
export function packPlan(job: string, account: string, plan: AccountPlan): PlanRecord {
  const { bounds, from, to, parcels } = plan;
  return {
    format: 1,
    job,
    account,
    bounds,
    from,
    to,
    firstEnd: parcels[0]?.to ?? null,
    widths: parcels.slice(1).map(({ from: start, to }) => (parseNaive(to) - parseNaive(start)) / second),
    totals: parcels.map(({ total }) => total),
  };
}

/** The plan that was kept for an account. `job` is null where nobody knows which job it should be. */
export function unpackPlan(
  record: PlanRecord,
  account: string,
  job: string | null,
  target: string,
): AccountPlan {
  if (record.format !== 1)
    throw new FleetError(
      'job_newer',
      `A later release planned account ${account} in ${target}. Update this program.`,
    );
  if (record.account !== account)
    throw new FleetError(
      'target_unfit',
      `${target} takes account ${account} and account ${record.account} for the same, since it does not tell upper from lower case. Use a file system that does, or one folder for each account.`,
    );
  if (job !== null && record.job !== job)
    throw new FleetError(
      'job_differs',
      `Account ${account} in ${target} is filled by the job ${record.job}, so the job ${job} cannot write there. Continue that job, or give this one a target of its own.`,
    );
  const { bounds, from, to, firstEnd, widths, totals } = record;
  if (firstEnd === null) return { bounds, from, to, parcels: [] };
  const ends = [firstEnd];
  let end = parseNaive(firstEnd);
  for (const width of widths) {
    end += width * second;
    ends.push(formatNaive(end));
  }
  const parcels = ends.map((to, index) => ({
    index,
    from: index === 0 ? from : (ends[index - 1] ?? null),
    to,
    total: totals[index] ?? 0,
  }));
  return { bounds, from, to, parcels };
}

/** Do two plans say the same? */
export const isSamePlan = (a: AccountPlan, b: AccountPlan): boolean =>
  JSON.stringify(packPlan('', '', a)) === JSON.stringify(packPlan('', '', b));

/** There is no plan that could be continued. */
export const noPlan = (account: string, target: string): FleetError =>
  new FleetError('unknown_job', `${target} has no plan for account ${account}. Plan the job again.`);
