import { formatNaive, parseNaive, second } from '@call-attribution/core/time';
import type { PinnedJob } from '../job/job.ts';
import type { Parcel } from '../parcels/parcel.ts';

/** What the name of a part follows from. */
export type PartBounds = Pick<Parcel, 'from' | 'to'>;

/** The name of a parcel among those of its account: its lower end without characters that file systems refuse. */
export function parcelKey({ from }: Pick<Parcel, 'from'>): string {
  return from === null ? 'start' : from.replace(' ', 'T').replaceAll(':', '');
}

/**
 * Where the records of a parcel lie, relative to the folder or prefix. It follows from the parcel alone: whoever reads it again
 * replaces the file, so a record is never in two of them.
 *
 * @example
 * partPath('101', { from: '2024-03-01 00:00:00', to: '2024-03-04 12:00:00' }, { format: 'parquet', partition: 'month' });
 * // account=101/month=2024-03/2024-03-01T000000.parquet
 */
export function partPath(
  account: string,
  parcel: PartBounds,
  { format, partition }: Pick<PinnedJob, 'format' | 'partition'>,
): string {
  const month = partition === 'month' ? `/month=${monthOf(parcel)}` : '';
  return `account=${account}${month}/${parcelKey(parcel)}.${format}`;
}

/** The month of a parcel; parcels end at months. The first one may have no beginning: then its last month. */
function monthOf({ from, to }: PartBounds): string {
  return (from ?? formatNaive(parseNaive(to) - second)).slice(0, 7);
}

/** Where the job lies. */
export const jobPath = '_fleet.json';

/** Where the plan of an account lies. */
export const planPath = (account: string): string => `_plan/${account}.json`;

/** Where the verdicts of an account lie. */
export const verdictsPath = (account: string): string => `_verdicts/account=${account}`;

/** Where the verdict of a parcel lies. */
export const verdictPath = (account: string, parcel: Pick<Parcel, 'from'>): string =>
  `${verdictsPath(account)}/${parcelKey(parcel)}.json`;
