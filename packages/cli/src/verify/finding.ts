import type { ReceiptVerdict } from '@call-attribution/node-stream/receipts';

/**
 * What was found about a thing. `proved`: it is what was read, and that was everything. `unproven`: it is what was read, but
 * nothing proves that this was everything. `not compared`: it was counted, and there was nothing to compare it with.
 */
export type CheckVerdict = 'proved' | 'unproven' | 'not compared' | 'differs';

/** Calls of the API and of a thing that are not the same, in a stretch of time. */
export interface Difference {
  /** `missing` here, `extra` here, `changed`, or `differs`, where the calls cannot be told apart. */
  readonly kind: 'missing' | 'extra' | 'changed' | 'differs';
  readonly calls: number;
  /** `date_added` of the first and of the last of them; null where they have none. */
  readonly from: string | null;
  readonly to: string | null;
  /** The first session IDs. */
  readonly sids: readonly string[];
}

/** One thing that is wrong, as a code for programs and a sentence for people. It never holds what callers said or who they are. */
export interface Finding {
  readonly code:
    | 'no_receipt'
    | 'no_file'
    | 'receipt_invalid'
    | 'unreadable'
    | 'bytes'
    | 'rows'
    | 'contents'
    | 'fields'
    | 'stored_counts'
    | 'removed_since'
    | 'not_whole'
    | 'api_not_whole'
    | 'not_comparable'
    | 'api';
  readonly text: string;
  readonly difference?: Difference;
}

/** What comparing with the API gave. */
export interface ApiCheck {
  readonly account: string | null;
  /** Calls that the API gave and that were compared. */
  readonly calls: number;
  readonly proof: ReceiptVerdict['proof'];
  /** Calls of erased callers, and calls from before a purge, which the API still has. */
  readonly erased: number;
  readonly purged: number;
  /** What was compared ends here; null at the end of the API. */
  readonly to: string | null;
}

/** What was found about a file or a store. */
export interface Check {
  readonly path: string;
  readonly verdict: CheckVerdict;
  /** Rows that were read and counted; null when nothing could be read. */
  readonly rows: number | null;
  readonly digest: string | null;
  /** Rows by account, for a store. */
  readonly accounts?: readonly {
    readonly account: string;
    readonly rows: number;
    readonly erasedCallers: number;
    readonly purgedBefore: string | null;
  }[];
  /** When the receipt was written, and what was proved of the read. */
  readonly receipt: {
    readonly writtenAt: string;
    readonly proof: string | null;
    readonly counted: number | null;
  } | null;
  readonly api: readonly ApiCheck[];
  readonly findings: readonly Finding[];
}

const harmless: ReadonlySet<Finding['code']> = new Set([
  'no_receipt',
  'not_whole',
  'api_not_whole',
  'not_comparable',
  'removed_since',
]);

/** The verdict that the findings leave. */
export function verdictOf(findings: readonly Finding[], compared: boolean): CheckVerdict {
  const codes = new Set(findings.map(({ code }) => code));
  if ([...codes].some((code) => !harmless.has(code))) return 'differs';
  if (codes.has('removed_since') || codes.has('not_comparable')) return 'not compared';
  if (codes.has('api_not_whole')) return 'unproven';
  if (!compared) return 'not compared';
  return codes.has('not_whole') ? 'unproven' : 'proved';
}
