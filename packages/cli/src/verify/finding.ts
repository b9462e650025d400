import type { FoundReceipt, Receipt, RowCount } from '@call-attribution/node-stream/receipts';
import { count, plural } from '../term/numbers.ts';

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
  /** The account that it is about, where it is about one. */
  readonly account?: string;
  readonly code:
    | 'no_receipt'
    | 'no_file'
    | 'receipt_invalid'
    | 'unreadable'
    | 'bytes'
    | 'rows'
    | 'contents'
    | 'fields'
    | 'removed_since'
    | 'not_whole'
    | 'api_not_whole'
    | 'not_comparable'
    | 'unread'
    | 'api';
  readonly text: string;
  readonly difference?: Difference;
}

/** What comparing with the API gave. */
export interface ApiCheck {
  readonly account: string | null;
  /** Calls that the API gave and that were compared. */
  readonly calls: number;
  readonly proof: NonNullable<Receipt['verdict']>['proof'];
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

/** What is said of a place where nothing could be read. */
export const nothingIn = (path: string, finding: Finding): Check => ({
  path,
  verdict: 'differs',
  rows: null,
  digest: null,
  receipt: null,
  api: [],
  findings: [finding],
});

/** A receipt without its file. */
export const onlyReceiptIn = (path: string): Check =>
  nothingIn(path, {
    code: 'no_file',
    text: 'there is a receipt, and the file that it describes is gone',
  });

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

/** What is wrong with a receipt that was looked for. */
export function receiptProblem(found: FoundReceipt | null): Finding[] {
  if (found === null) return [{ code: 'no_receipt', text: 'there is no receipt to compare it with' }];
  if (found.receipt !== null) return [];
  return [{ code: 'receipt_invalid', text: `the receipt cannot be used: ${found.problem}` }];
}

/** Rows that are not those of a receipt. */
export function rowsDifference(expected: RowCount, found: RowCount): Finding[] {
  if (expected.count !== found.count) {
    const text = `it has ${plural(found.count, 'row')}, and the receipt says ${count(expected.count)}`;
    return [{ code: 'rows', text }];
  }
  if (expected.digest === found.digest) return [];
  return [{ code: 'contents', text: 'it has as many rows as the receipt says, but not the same ones' }];
}

/** Bytes that are not those of a receipt. */
export function bytesDifference(
  expected: NonNullable<Receipt['bytes']>,
  found: NonNullable<Receipt['bytes']>,
): Finding[] {
  if (expected.length !== found.length) {
    const text = `it has ${count(found.length)} bytes, and the receipt says ${count(expected.length)}`;
    return [{ code: 'bytes', text }];
  }
  if (expected.sha256 === found.sha256) return [];
  return [{ code: 'bytes', text: 'its bytes are not those of the receipt: the SHA-256 differs' }];
}

/** What a check says of a receipt. */
export function summaryOf({ writtenAt, verdict }: Receipt): NonNullable<Check['receipt']> {
  return { writtenAt, proof: verdict?.proof ?? null, counted: verdict?.proved ?? null };
}

/** Why a thing that is as its receipt says is not proved. */
export function doubts({ verdict }: Receipt): Finding[] {
  if (verdict?.proof === 'whole') return [];
  if (verdict === null)
    return [{ code: 'not_whole', text: 'the receipt does not say whether all calls were read' }];
  const why = [...new Set(verdict.gaps.map(({ why }) => why))].join(', ');
  const text = `the receipt says that the read was ${verdict.proof}${why === '' ? '' : `: ${why}`}`;
  return [{ code: 'not_whole', text }];
}
