import type { ReadFacts } from '../calls/read-facts.ts';
import { type TimeSlice, timeSliceOf } from '../calls/time-slice.ts';
import { windowQuery } from '../calls/window-query.ts';
import { proofOf, type Verdict, type VerdictReason } from '../reader/verdict.ts';
import type { ReceiptFacts, ReceiptVerdict } from './receipt.ts';

/** A verdict in writing. `at`: when the read ended, in milliseconds since 1970. */
export function writtenVerdict(verdict: Verdict, at: number): ReceiptVerdict {
  const { proof, reasons, total, delivered, deliveredBefore, skipped, recount } = verdict;
  return {
    proof,
    reasons,
    counted: total,
    read: deliveredBefore + delivered + skipped,
    setAside: skipped,
    countedBefore: recount?.before ?? null,
    countedAt: new Date(at).toISOString(),
  };
}

/** A read of copies, such as a warehouse. */
export interface ReadOfCopies {
  /** Records that the source counts. */
  readonly counted: number;
  /** Records that were read. */
  readonly read: number;
  /** What the syncs of the copies proved; absent for a source that is no copy. */
  readonly copies?: readonly { readonly reasons: readonly VerdictReason[] }[];
}

/** All that a source has was read: this is whole, unless the source is a copy that is not. `at`: when, in milliseconds since 1970. */
export function verdictOfCopies({ counted, read, copies = [] }: ReadOfCopies, at: number): ReceiptVerdict {
  const reasons = copies.flatMap((copy) => copy.reasons);
  return {
    proof: proofOf(reasons),
    reasons,
    counted,
    read,
    setAside: 0,
    countedBefore: null,
    countedAt: new Date(at).toISOString(),
  };
}

/** The range of `date_added` in a filter, its end not included; null at an open end. */
export function periodOfFilter(filter: string, version: 'v2' | 'v3'): TimeSlice {
  const { lower, upper } = windowQuery(filter, version);
  return timeSliceOf({ from: lower, to: upper });
}

/** What a receipt says about a read that has ended. `at`: when, in milliseconds since 1970. */
export async function factsOfRead(
  read: ReadFacts,
  accounts: readonly string[],
  at: number,
): Promise<ReceiptFacts> {
  const { address, version, filter, from, to } = read;
  const verdict = writtenVerdict(await read.verdict, at);
  return { source: address, accounts, version, filter, from, to, verdict };
}

/** Nothing is known of where the records come from. */
export const unknownSource: ReceiptFacts = {
  source: null,
  accounts: [],
  version: null,
  filter: null,
  from: null,
  to: null,
  verdict: null,
};
