import type { Client } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import type { TimeSlice } from '@call-attribution/node-stream';
import type { Receipt } from '@call-attribution/node-stream/receipts';
import type { Args } from '../args.ts';
import { ClosedPipe, Interrupted, UsageError } from '../errors.ts';
import { explain } from '../failures.ts';
import type { Io } from '../io.ts';
import { plural } from '../terminal/numbers.ts';

/** What a command asks to be verified. */
export interface Ask {
  readonly args: Args;
  readonly io: Io;
  readonly againstApi: boolean;
  /** The range of `date_added` that is compared. */
  readonly range: TimeSlice;
  /** The API of an account. */
  api(account: string | null): Promise<Client>;
}

/** Calls of the API and of a thing that are not the same. */
export interface Difference {
  readonly kind: 'missing' | 'extra' | 'changed';
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

/** What was found about a file, or about an account in a store. */
export interface Found {
  readonly path: string;
  /** Rows that were read and counted; null when nothing could be read. */
  readonly rows: number | null;
  /** Of an account in a store: which, and what was removed from it on purpose. */
  readonly stored: {
    readonly account: string;
    readonly erasedCallers: number;
    readonly purgedBefore: string | null;
  } | null;
  /** Of a file: when its receipt was written, and what was proved of the read. */
  readonly receipt: { readonly writtenAt: string; readonly proof: string | null } | null;
  readonly api: readonly ApiCheck[];
  readonly findings: readonly Finding[];
}

/**
 * `proved`: it is what was read, and that was everything. `unproven`: nothing proves that this is everything. `counted`: there is
 * nothing to compare it with, and nothing is wrong.
 */
export type CheckVerdict = 'proved' | 'counted' | 'unproven' | 'differs';

/** The same with a verdict. */
export interface Check extends Found {
  readonly verdict: CheckVerdict;
}

const doubts: ReadonlySet<Finding['code']> = new Set([
  'no_receipt',
  'not_whole',
  'api_not_whole',
  'not_comparable',
]);

/** The verdict that the findings leave. */
export function judged(found: Found): Check {
  const { findings, receipt, stored, api } = found;
  let verdict: CheckVerdict = 'proved';
  if (findings.some(({ code }) => !doubts.has(code))) verdict = 'differs';
  else if (findings.length > 0) verdict = 'unproven';
  else if (receipt === null && stored === null && api.length === 0) verdict = 'counted';
  return { ...found, verdict };
}

/** What is said of a place where nothing could be read. */
export const nothingIn = (path: string, finding: Finding): Check =>
  judged({ path, rows: null, stored: null, receipt: null, api: [], findings: [finding] });

/** The same of what failed. What is not the fault of the thing, but of its server or of how the command was typed, ends the command. */
export async function unreadable(path: string, error: unknown, io: Io): Promise<Check> {
  if (io.signal.aborted) throw new Interrupted();
  if (error instanceof ClosedPipe || error instanceof UsageError) throw error;
  const isEmpty = CallsError.is(error, 'store_missing');
  if (CallsError.is(error) && !isEmpty && ['usage', 'keys', 'away', 'busy'].includes(error.kind)) throw error;
  const { message } = await explain(error);
  return nothingIn(path, { code: 'unreadable', text: `it cannot be read: ${message}` });
}

const mostShown = 20;

/** What was found, in words. */
export function linesOf({ path, verdict, rows, receipt, api, stored, findings }: Check): string[] {
  let why: string[] = [];
  if (verdict === 'counted') why = ['no receipt; calls export --receipt writes one'];
  else if (verdict === 'proved' && api.length > 0) why = ['each as the API has it'];
  else if (verdict === 'proved')
    why = [receipt ? `as the receipt of ${receipt.writtenAt.slice(0, 10)} says` : 'as its syncs have proved'];
  const besides = [
    ...(stored !== null && stored.erasedCallers > 0
      ? [`${plural(stored.erasedCallers, 'caller was', 'callers were')} erased`]
      : []),
    ...(stored?.purgedBefore ? [`calls before ${stored.purgedBefore} were purged`] : []),
    ...api.flatMap(({ erased, purged, to }) => [
      ...(erased > 0
        ? [`the API still has ${plural(erased, 'call')} of erased callers, which are not missing`]
        : []),
      ...(purged > 0
        ? [`the API still has ${plural(purged, 'call')} from before the purge, which are not missing`]
        : []),
      ...(to === null ? [] : [`compared with the API up to ${to}`]),
    ]),
  ];
  const texts = findings.map(({ text }) => text);
  const more = texts.length > mostShown ? [`and ${plural(texts.length - mostShown, 'more difference')}`] : [];
  const name = ['differs', 'unproven'].includes(verdict) ? verdict.toUpperCase() : verdict;
  const counted = rows === null ? [] : [plural(rows, 'call')];
  return [
    `${stored === null ? '' : `${stored.account} in `}${path}: ${[name, ...counted, ...why].join(', ')}`,
    ...[...texts.slice(0, mostShown), ...more, ...besides].map((text) => `  ${text}`),
  ];
}
