import type { Client } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import type { TimeSlice } from '@call-attribution/node-stream';
import type { Receipt } from '@call-attribution/node-stream/receipts';
import type { Args } from '../args.ts';
import { ClosedPipe, Interrupted, UsageError } from '../errors.ts';
import { explain } from '../failures.ts';
import type { Io } from '../io.ts';

/** What a command asks to be verified, and what it has found. */
export interface Ask {
  readonly args: Args;
  readonly io: Io;
  readonly againstApi: boolean;
  /** The range of `date_added` that is compared. */
  readonly range: TimeSlice;
  /** The API of an account; of the one that was chosen, or of the settings, for null. */
  api(account: string | null): Promise<Client>;
  readonly checks: Check[];
}

/** Calls of the API and of a thing that are not the same. */
export interface Difference {
  readonly kind: 'missing' | 'extra' | 'changed';
  calls: number;
  /** `date_added` of the first and of the last of them; null where they have none. */
  from: string | null;
  to: string | null;
  /** The first session IDs. */
  readonly sids: string[];
}

/** After these nothing proves that a thing is whole; after the others something is wrong. */
const doubts = ['no_receipt', 'not_whole', 'api_not_whole', 'not_comparable'] as const;
const faults = [
  'no_file',
  'receipt_invalid',
  'unreadable',
  'bytes',
  'rows',
  'contents',
  'unread',
  'api',
] as const;

/** One thing that is wrong, as a code for programs and a sentence for people. It never holds what callers said or who they are. */
export interface Finding {
  readonly code: (typeof doubts | typeof faults)[number];
  readonly text: string;
  readonly difference?: Difference;
}

/** What is found about a file, or about an account in a store. */
export interface Check {
  readonly path: string;
  /** Rows that were read and counted; null when nothing could be read. */
  rows: number | null;
  /** Of an account in a store: which, and what was removed from it on purpose. */
  readonly stored: {
    readonly account: string;
    readonly erasedCallers: number;
    readonly purgedBefore: string | null;
  } | null;
  /** Of a file: when its receipt was written, and what was proved of the read. */
  readonly receipt: { readonly writtenAt: string; readonly proof: string | null } | null;
  /** What was compared with the API. */
  readonly api: {
    readonly account: string | null;
    /** Calls that the API gave and that were compared. */
    readonly calls: number;
    readonly proof: NonNullable<Receipt['verdict']>['proof'];
    /** Calls of erased callers, and calls from before a purge, which the API still has. */
    readonly erased: number;
    readonly purged: number;
    /** What was compared ends here; null at the end of the API. */
    readonly to: string | null;
  }[];
  readonly findings: Finding[];
}

/** Something of which nothing is known yet. */
export const begin = (path: string, about: Partial<Check> = {}): Check => ({
  ...{ path, rows: null, stored: null, receipt: null, api: [], findings: [] },
  ...about,
});

/**
 * `proved`: it is what was read, and that was everything. `unproven`: nothing proves that this is everything. `counted`: there is nothing
 * to compare it with, and nothing is wrong.
 */
export function verdictOf({ findings, receipt, stored, api }: Check) {
  if (findings.some(({ code }) => faults.some((fault) => fault === code))) return 'differs';
  if (findings.length > 0) return 'unproven';
  return receipt === null && stored === null && api.length === 0 ? 'counted' : 'proved';
}

/**
 * Verifies a thing; one that cannot be read does not stop the others. What is not its fault, but that of its server or of how the command
 * was typed, ends the command.
 */
export async function attempt(path: string, work: () => Promise<unknown>, ask: Ask): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (ask.io.signal.aborted) throw new Interrupted();
    if (error instanceof ClosedPipe || error instanceof UsageError) throw error;
    const isEmpty = CallsError.is(error, 'store_missing');
    if (CallsError.is(error) && !isEmpty && ['usage', 'keys', 'away', 'busy'].includes(error.kind))
      throw error;
    const text = `it cannot be read: ${(await explain(error)).message}`;
    ask.checks.push(begin(path, { findings: [{ code: 'unreadable', text }] }));
  }
}
