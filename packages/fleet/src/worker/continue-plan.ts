import type { Client } from '@call-attribution/core';
import { planSlices } from '@call-attribution/node-stream';
import type { AccountPlan } from '../parcels/parcel.ts';
import type { TurnContext } from './turn.ts';

/**
 * Continues a plan over the stretch up to before `until`, or fills one that had no records. Returns the plan that holds; it is the
 * same one where the stretch has no records.
 */
export async function continuePlan(
  { target, job, signal }: Pick<TurnContext, 'target' | 'job' | 'signal'>,
  client: Client,
  account: string,
  before: AccountPlan,
  to: string,
): Promise<AccountPlan> {
  const isEmpty = before.parcels.length === 0;
  const from = isEmpty ? before.from : before.to;
  if (from !== null && from >= to) return before;
  const { filter, parcel: records, partition: by } = job;
  const plan = await planSlices(client, { filter, from, to, records, by, signal });
  if (plan.total === 0) return before;
  const first = before.parcels.length;
  const parcels = [...before.parcels, ...plan.slices.map((slice, i) => ({ ...slice, index: first + i }))];
  const bounds = isEmpty ? plan.bounds : before.bounds;
  return target.continuePlan(account, before, { bounds, from: before.from, to: plan.to, parcels });
}
