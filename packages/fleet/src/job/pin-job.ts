import { fields } from '@call-attribution/core/fields';
import { durationMillis, formatNaive, hour, periodEnd, periodStart } from '@call-attribution/core/time';
import { printFilter, toFilter } from '@call-attribution/query-dsl';
import { FleetError } from '../errors.ts';
import type { Job, PinnedJob } from './job.ts';

/** Whether records go into a database. */
export const isStore = (into: string): boolean => /^(?:postgres|postgresql|sqlite):/.test(into);

/** All fields of a version. */
export const fieldsOf = (version: 'v2' | 'v3'): string[] =>
  fields.filter((field) => field[version] !== null).map(({ name }) => name);

/** By this age all calls of a time have arrived, in any time zone. */
const settled = 14 * hour;

/**
 * The job with every setting filled in, as a target is opened with it for `planJob`.
 *
 * @param now milliseconds since 1970: by default the job ends 14 hours before.
 * @example
 * const target = await openTarget(job.into, pinJob(job));
 */
export function pinJob(job: Job, now: number = Date.now()): PinnedJob {
  const { version = 'v3', into, format = 'parquet', sync = null } = job;
  const latest = formatNaive(now - settled);
  const to = periodEnd(job.to ?? latest) ?? latest;
  const from = periodStart(job.from ?? '');
  if (to > latest)
    throw new FleetError(
      'job_invalid',
      `The job ${job.name}: to must be ${latest} or earlier, 14 hours ago in UTC: later calls may still arrive. Leave it out to end there.`,
    );
  if (from !== null && from >= to)
    throw new FleetError(
      'job_invalid',
      `The job ${job.name}: from must be earlier than ${to}, where it ends.`,
    );
  const files = !isStore(into);
  return {
    name: job.name,
    baseUrl: job.baseUrl.trim(),
    version,
    filter: printFilter(toFilter(job.filter ?? '', { version })),
    from,
    to,
    into,
    format: files ? format : null,
    columns: files && !format.startsWith('ndjson') ? (job.columns ?? fieldsOf(version)) : null,
    partition: job.partition ?? (files ? 'month' : 'none'),
    parcel: job.parcel ?? 50_000,
    lanes: job.lanes ?? 2,
    pages: job.pages ?? 10,
    requestsPerMinute: job.requestsPerMinute ?? null,
    tries: job.tries ?? 5,
    skip: job.skip ?? false,
    sync:
      sync === null
        ? null
        : {
            every: durationMillis(sync.every, 'sync.every'),
            lookback: durationMillis(sync.lookback ?? '3d', 'sync.lookback'),
            settle: durationMillis(sync.settle ?? '30d', 'sync.settle'),
          },
  };
}

/** Settings whose default moves from plan to plan: left out, they are what they were. */
const moving = ['to', 'columns'] as const satisfies readonly (keyof PinnedJob & keyof Job)[];
/** Strings that may be about a person, or long. */
const unshown: ReadonlySet<string> = new Set(['filter', 'into', 'columns'] satisfies (keyof PinnedJob)[]);

/** Refuses a job that differs from the one that was planned under its name. `where` it is kept. */
export function checkSameJob(job: Job, wanted: PinnedJob, held: PinnedJob, where: string): void {
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(held)])] as (keyof PinnedJob)[];
  const differences = names
    .filter((name) => !moving.some((one) => one === name && job[one] === undefined))
    .filter((name) => JSON.stringify(wanted[name]) !== JSON.stringify(held[name]))
    .map((name) =>
      unshown.has(name)
        ? name
        : `${name} (${JSON.stringify(held[name])}, now ${JSON.stringify(wanted[name])})`,
    );
  if (differences.length === 0) return;
  throw new FleetError(
    'job_differs',
    `${where} has a job ${held.name} that was planned with other settings: ${differences.join(', ')}. ` +
      'Use the settings it was planned with, or another name and another target.',
  );
}
