import type { Call } from '@call-attribution/core';
import type { StreamPage } from '@call-attribution/node-stream';
import { type CallInput, type Claim, type Store, StoreError } from '@call-attribution/store';
import { FleetError } from '../errors.ts';
import type { ParcelVerdict } from '../parcels/parcel.ts';
import type { ParcelClaim, ParcelReading } from './target.ts';

/** What is noted under the claim of a parcel: its verdict, or that it was reopened. */
export type ParcelNote = ParcelVerdict | { readonly reopened: ParcelVerdict };

/** The verdict that a note holds; null when there is none, or the parcel was reopened. */
export function verdictOf(note: unknown): ParcelVerdict | null {
  if (note === null || note === undefined) return null;
  return 'reopened' in (note as ParcelNote) ? null : (note as ParcelVerdict);
}

/** Passes errors on, a lost claim as the one of the fleet. */
export async function fenced<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!isLost(cause)) throw cause;
    throw new FleetError('claim_lost', 'Another worker has claimed the same since, and continues it.', {
      cause,
    });
  }
}

/** Did somebody else claim the same? */
export const isLost = (error: unknown): boolean => error instanceof StoreError && error.code === 'claim_lost';

/** How a parcel is written. */
export interface StoreClaimOptions {
  /** Leave out records that cannot be read. */
  readonly skip: boolean;
  /** The rows of the parcel that the job is about. */
  readonly rows: () => AsyncIterable<Pick<Call, 'sid'>> | Iterable<Pick<Call, 'sid'>>;
}

/**
 * Writes the pages of a parcel under a claim. One page is held back, so that the last one carries the verdict in its own
 * transaction. Of a parcel that was reopened, rows that the server no longer has are removed with it.
 */
export function storeClaim(store: Store, claim: Claim, { skip, rows }: StoreClaimOptions): ParcelClaim {
  let held: readonly CallInput[] | null = null;
  let leftOut = 0;
  const sids = isReopened(claim.note) ? new Set<string>() : null;
  return {
    done: verdictOf(claim.note),
    async put(page: StreamPage) {
      const before = held;
      // The lines are a copy: the page may be used again. Parsed records are those that can be read.
      held = skip ? page.records : linesOf(page.ndjson());
      if (sids !== null) for (const { sid } of page.records) sids.add(sid);
      if (before === null) return;
      const stored = await fenced(store.commitClaimed(claim, { calls: before }));
      leftOut += stored.leftOut;
    },
    async commit(reading: ParcelReading) {
      const verdictAfter = (last: number): ParcelVerdict => ({
        ...reading,
        leftOut: leftOut + last,
        bytes: 0,
        sha256: '',
      });
      const calls = held ?? [];
      const note = (now: { leftOut: number }) => verdictAfter(now.leftOut);
      // A record that cannot be read is still there, and nobody knows which it is.
      const remove = sids === null || reading.skipped > 0 ? [] : await otherRows(rows(), sids);
      const stored = await fenced(store.commitClaimed(claim, { calls, remove, note }));
      held = null;
      return verdictAfter(stored.leftOut);
    },
    async drop() {
      // Rows that were written stay: they are records of the account, and whoever reads the parcel writes them again.
      held = null;
    },
  };
}

const isReopened = (note: unknown): boolean =>
  note !== null && note !== undefined && verdictOf(note) === null;

async function otherRows(
  rows: ReturnType<StoreClaimOptions['rows']>,
  sids: ReadonlySet<string>,
): Promise<string[]> {
  const others: string[] = [];
  for await (const { sid } of rows) if (!sids.has(sid)) others.push(sid);
  return others;
}

const newline = 0x0a;

function linesOf(ndjson: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < ndjson.length; ) {
    const end = ndjson.indexOf(newline, from);
    const to = end === -1 ? ndjson.length : end;
    if (to > from) lines.push(ndjson.subarray(from, to));
    from = to + 1;
  }
  return lines;
}
