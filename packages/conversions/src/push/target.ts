import type { Consent } from '../conversion.ts';
import type { LedgerEntry } from '../entry.ts';

/** A change of what a tool has: a conversion that is new, worth something else, or no longer one. */
export interface ConversionChange {
  /** What the ledger will say about it. Its action is the kind of the change. */
  readonly entry: LedgerEntry;
  /** The number of the caller; null unless it may be used to match the call. */
  readonly callerNumber: string | null;
  /** What the caller agreed to. */
  readonly consent: Consent | null;
}

/** A change that the tool refused, by its place in the request. */
export interface ChangeRefusal {
  /** Place in the request, from 0. */
  readonly index: number;
  /** The field, as the tool names it; empty when it names none. */
  readonly field: string;
  /** The reason, as the tool names it, or its sentence without personal data. */
  readonly reason: string;
}

/** An API that takes conversions. */
export interface PushTarget {
  /** The most changes of one request. */
  readonly most: number;
  /**
   * A request has additions only, or corrections only, so that what became of each kind is known by itself. Default false.
   */
  readonly oneKind?: boolean;
  /**
   * Sends changes in one request, repeated while the API is busy or cannot be reached. `isTaken`: those that were not refused
   * were taken; otherwise nothing was.
   */
  send(
    changes: readonly ConversionChange[],
    options: { readonly validateOnly: boolean; readonly now: number },
  ): Promise<{
    readonly isTaken: boolean;
    readonly refusals: readonly ChangeRefusal[];
    /** For diagnostics; null when the tool has none. */
    readonly requestId: string | null;
  }>;
}
