import type { Client, Clock } from '@call-attribution/core';
import {
  createCallStream,
  IncompleteError,
  type PageClient,
  sliceFilter,
} from '@call-attribution/node-stream';
import type { PinnedJob } from '../job/job.ts';
import type { AccountPlan, Parcel } from '../parcels/parcel.ts';
import type { ParcelClaim, ParcelReading } from '../target/target.ts';

/** What is needed to read one parcel. */
export interface ParcelRead {
  readonly job: PinnedJob;
  readonly account: string;
  readonly parcel: Parcel;
  readonly bounds: AccountPlan['bounds'];
  readonly claim: ParcelClaim;
  readonly client: Client;
  /** Ends the read at once. */
  readonly signal: AbortSignal;
  /** Called before each page is written; throws to end the read. */
  readonly onPage: () => void;
  readonly holder: string;
  readonly version: string;
  readonly clock: Pick<Clock, 'now'>;
}

/** Requests that a read has sent, tries that failed included. */
export interface RequestCount {
  requests: number;
}

/** Pages that are read ahead while one is written, and their bytes. */
const prefetch = { pages: 4, bytes: 16 * 2 ** 20 };

/**
 * Reads a parcel page by page into its claim, and proves it: as many different calls as the server counts, and the same count once
 * more at the end. Throws `incomplete` when that does not hold.
 */
export async function readParcel(read: ParcelRead, count: RequestCount): Promise<ParcelReading> {
  const { job, parcel, claim } = read;
  const stream = createCallStream(counted(read.client, count), {
    filter: filterOf(job, parcel, read.bounds),
    // It ended long before the plan was made: nothing is expected to come or go, whatever the clock of this machine says.
    window: { bounds: read.bounds, pages: job.pages, sealedBefore: parcel.to },
    prefetch,
    signal: read.signal,
    onError: job.skip ? 'skip' : 'fail',
    // A file has one line for each call; a store replaces the row.
    onChange: job.format === null ? 'again' : 'keep',
    timeout: { total: Number.POSITIVE_INFINITY },
    clock: read.clock,
  });
  let records = 0;
  for await (const page of stream.pages()) {
    read.onPage();
    await claim.put(page);
    records += page.count;
  }
  read.signal.throwIfAborted();
  const verdict = await stream.verdict;
  const isWhole = verdict.reasons.every(({ code }) => code === 'skipped' && job.skip);
  const { total, skipped, changed, rereads } = verdict;
  // What is left out of a file is not one of its records; a call that came again replaced its row.
  const different = records - (job.format === null ? changed : 0);
  if (!isWhole || total === null || different !== total) {
    throw new IncompleteError({
      slice: { from: parcel.from, to: parcel.to },
      expected: verdict.recount?.expected ?? total,
      got: different,
      trouble: total === null ? 'no_total' : 'moved_total',
      tries: 1,
    });
  }
  return {
    account: read.account,
    index: parcel.index,
    from: parcel.from,
    to: parcel.to,
    records: different - skipped,
    total,
    requests: count.requests,
    rereads,
    skipped,
    at: read.clock.now(),
    by: read.holder,
    version: read.version,
  };
}

/** The filter of one parcel of a job. */
function filterOf(
  { filter, version }: Pick<PinnedJob, 'filter' | 'version'>,
  { from, to }: Pick<Parcel, 'from' | 'to'>,
  bounds: AccountPlan['bounds'],
): string {
  return sliceFilter(filter, { from, to }, bounds, version);
}

function counted({ version, fetchPage }: Client, count: RequestCount): PageClient {
  return {
    version,
    async fetchPage(query) {
      try {
        const page = await fetchPage(query);
        count.requests += page.meta.attempts;
        return page;
      } catch (error) {
        count.requests += (error as { attempts?: number } | null)?.attempts ?? 0;
        throw error;
      }
    },
  };
}
