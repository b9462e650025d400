import type { Call } from '@call-attribution/core';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import type { AccountPlan, Parcel, ParcelReading, PinnedJob } from '../src/index.ts';

/** A job into a target; `changes` make another one. */
export function pinnedJob(into: string, changes: Partial<PinnedJob> = {}): PinnedJob {
  const isStore = /^(?:postgres|sqlite)/.test(into);
  return {
    name: 'history',
    baseUrl: 'https://api.example.com',
    version: 'v3',
    filter: 'inc_gce:1',
    from: null,
    to: '2024-02-01 00:00:00',
    into,
    format: isStore ? null : 'ndjson',
    columns: null,
    partition: isStore ? 'none' : 'month',
    parcel: 30,
    lanes: 2,
    pages: 10,
    requestsPerMinute: null,
    tries: 5,
    skip: false,
    sync: null,
    ...changes,
  };
}

/** A parcel with the calls that belong to it. */
export interface FilledParcel {
  readonly parcel: Parcel;
  readonly calls: readonly Call[];
}

/** Cuts calls into parcels that lie end to end; the first one has no beginning. */
export function cutIntoParcels(calls: readonly Call[], size: number): FilledParcel[] {
  const groups = Array.from({ length: Math.ceil(calls.length / size) }, (_, i) =>
    calls.slice(i * size, (i + 1) * size),
  );
  const starts = groups.map((group) => group[0]?.date_added as string);
  const end = formatNaive(parseNaive(calls.at(-1)?.date_added) + 1000);
  return groups.map((group, index) => ({
    parcel: {
      index,
      from: index === 0 ? null : (starts[index] as string),
      to: starts[index + 1] ?? end,
      total: group.length,
    },
    calls: group,
  }));
}

/** The plan of these parcels. */
export function planOf(filled: readonly FilledParcel[]): AccountPlan {
  const parcels = filled.map(({ parcel }) => parcel);
  return { bounds: 'half-open', from: null, to: parcels.at(-1)?.to ?? '2024-02-01 00:00:00', parcels };
}

/** What a worker says of a parcel that it has read. */
export function readingOf(account: string, { parcel, calls }: FilledParcel, by = 'w1'): ParcelReading {
  const { index, from, to } = parcel;
  const records = calls.length;
  return {
    account,
    index,
    from,
    to,
    records,
    total: records,
    requests: 2,
    rereads: 0,
    skipped: 0,
    at: 1_700_000_000_000,
    by,
    version: '0.0.0',
  };
}
