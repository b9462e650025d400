import type { Client } from '@call-attribution/core';
import { planSlices } from '@call-attribution/node-stream';
import type { PinnedJob } from '../job/job.ts';
import type { AccountPlan } from '../parcels/parcel.ts';

/** A plan that was made, and the requests it took. */
export interface MadePlan {
  readonly plan: AccountPlan;
  readonly requests: number;
}

/** Cuts an account into parcels. */
export async function makePlan(
  client: Pick<Client, 'version' | 'fetchPage'>,
  job: Pick<PinnedJob, 'filter' | 'from' | 'to' | 'parcel' | 'partition'>,
  signal?: AbortSignal,
): Promise<MadePlan> {
  const { filter, from, to, parcel: records, partition: by } = job;
  const { requests, slices, total, ...plan } = await planSlices(client, {
    filter,
    from,
    to,
    records,
    by,
    signal,
  });
  const parcels = total === 0 ? [] : slices.map((slice, index) => ({ index, ...slice }));
  return { plan: { ...plan, parcels }, requests };
}

/** Records of a plan when it was made. */
export const recordsOf = ({ parcels }: AccountPlan): number =>
  parcels.reduce((sum, { total }) => sum + total, 0);
