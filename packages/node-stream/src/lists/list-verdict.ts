import type { Proof, Verdict, VerdictReason } from '../reader/verdict.ts';

/** What a read of a list proved. */
export interface ListVerdict {
  /**
   * `whole`: every item of the list was delivered. `unproven`: none is known to be missing, but not everything that would
   * prove it could be checked. `short`: items are known to be missing.
   */
  readonly proof: Proof;
  /** Why it is not `whole`; empty when it is. */
  readonly reasons: readonly VerdictReason[];
  /** Items of the list by its totals when they were read, in all runs. Null when it gave none. */
  readonly counted: number | null;
  /** Items delivered, in all runs. */
  readonly delivered: number;
  /** Those of them that were delivered in this run. */
  readonly deliveredNow: number;
  /** Items received again and left out. */
  readonly duplicates: number;
  /** Ranges read again because their pages did not agree, in all runs. */
  readonly rereads: number;
  /** Ranges read in this run, and requests answered. */
  readonly ranges: number;
  /** Requests answered in this run. */
  readonly requests: number;
  /** The list was counted again at the end up to this position; null when all of it was, or nothing. */
  readonly countedUpTo: number | null;
}

/** The verdict of a read, in the words of lists. `taken`: items delivered, in all runs. */
export function listVerdictOf(verdict: Verdict, taken: number): ListVerdict {
  const { proof, reasons, total, deliveredBefore, duplicatesDropped, rereads } = verdict;
  const { slices, requests, recount } = verdict;
  return {
    ...{ proof, reasons, counted: total, rereads, requests },
    delivered: taken,
    deliveredNow: taken - deliveredBefore,
    duplicates: duplicatesDropped,
    ranges: slices,
    countedUpTo: recount?.before == null ? null : Number(recount.before),
  };
}
