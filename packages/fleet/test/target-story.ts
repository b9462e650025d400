import type { Call } from '@call-attribution/core';
import type { PinnedJob, Target } from '../src/index.ts';
import { cutIntoParcels, type FilledParcel, planOf, readingOf } from './filled-parcels.ts';
import { callsOf, pagesOf } from './real-pages.ts';

/** Everything that a worker does with a target, for tests that end it at every point. */
export const account = '101';
export const filled = cutIntoParcels(callsOf(48, 3), 16) as [FilledParcel, FilledParcel, FilledParcel];
const [first, second, third] = filled;
const before = planOf([first, second]);
export const after = planOf(filled);

/** The calls of a parcel as one reading has them: the field `city` says whose it was. */
export const readAs = (by: string, { calls }: FilledParcel): Call[] =>
  calls.map((call) => ({ ...call, city: by }));

/** Reads a parcel unless that was done. */
export async function readInto(target: Target, parcel: FilledParcel, by: string): Promise<void> {
  const claim = await target.claim(account, parcel.parcel, by);
  if (claim.done !== null) return;
  for (const page of await pagesOf(readAs(by, parcel), 8)) await claim.put(page);
  await claim.commit(readingOf(account, parcel, by));
}

/** Plans, reads, reopens, reads once more and continues. It can be repeated by another worker, from wherever it was ended. */
export async function liveThrough(target: Target, job: PinnedJob, by: string): Promise<void> {
  await target.pin(job);
  await target.plan({ id: account }, async () => before);
  await readInto(target, first, by);
  await readInto(target, second, by);
  await target.reopen(account, first.parcel);
  await readInto(target, first, `${by} again`);
  await target.continuePlan(account, before, after);
  await readInto(target, third, by);
}

/** A parcel of forty pages. */
export const largeParcel = cutIntoParcels(callsOf(400, 4), 400)[0] as FilledParcel;
