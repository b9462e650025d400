import type { Call, Client } from '@call-attribution/core';
import type { SyncBatch, SyncState } from './sync-state.ts';

/** The part of core's client that a sync uses. */
export type SyncClient = Pick<Client, 'version' | 'fetchPage' | 'getCall'>;

/** What a sync found out about one record. */
export interface SyncChange {
  /** `same`: it was seen before with the same contents. */
  readonly kind: 'new' | 'changed' | 'same';
  /** The record as it is now. */
  readonly call: Call;
  /** The record as it was, when `recall` returns it. */
  readonly before?: Call;
}

/** A part of a sync: what was found, and the state once that was handled. */
export interface SyncStep {
  readonly changes: readonly SyncChange[];
  readonly state: SyncState;
  /** Records that the server no longer has. */
  readonly gone: number;
  /** Records that could not be parsed. */
  readonly skipped: number;
  readonly isRecheck: boolean;
  /** The run ends with it. */
  readonly isLast: boolean;
  /** See `SyncBatch`. */
  readonly stage: NonNullable<SyncBatch['stage']>;
}
