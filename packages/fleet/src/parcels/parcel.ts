import type { BoundStyle } from '@call-attribution/node-stream';

/** A stretch of `date_added` of one account that one worker reads and commits as a whole: from `from` up to before `to`. */
export interface Parcel {
  /** Its place in the plan of the account, from 0. */
  readonly index: number;
  /** First time, `YYYY-MM-DD HH:MM:SS`; null is the open beginning. */
  readonly from: string | null;
  /** First time after it. */
  readonly to: string;
  /** Records it had when it was planned. */
  readonly total: number;
}

/** The parcels of an account, end to end without a gap. Made once, kept in the target, never changed, only continued. */
export interface AccountPlan {
  /** How the upper end of a parcel is written in a filter. */
  readonly bounds: BoundStyle;
  /** Where the plan begins; null is the open beginning. */
  readonly from: string | null;
  /** Where it ends: the `to` of its last parcel. */
  readonly to: string;
  /** The parcels in order. Empty for an account without records. */
  readonly parcels: readonly Parcel[];
}

/** What was committed for a parcel. Written once for each reading, next to the records. */
export interface ParcelVerdict {
  /** Id of the account. */
  readonly account: string;
  /** The place of the parcel in the plan, from 0. */
  readonly index: number;
  /** First time of the parcel; null is the open beginning. */
  readonly from: string | null;
  /** First time after it. */
  readonly to: string;
  /** Records committed. */
  readonly records: number;
  /** Records that the server counted; null when a part of the proof is missing (never with the settings of a fleet). */
  readonly total: number | null;
  /** Requests that the reading took. */
  readonly requests: number;
  /** Slices that were read again because the list moved. */
  readonly rereads: number;
  /** Records that could not be parsed and were left out; 0 unless the job allows it. */
  readonly skipped: number;
  /** Records that the store leaves out because their callers were erased. */
  readonly leftOut: number;
  /** Bytes of the part that was written; 0 for a store. */
  readonly bytes: number;
  /** SHA-256 of these bytes in hex; empty for a store. */
  readonly sha256: string;
  /** When it was committed, in milliseconds since 1970, by the clock of the worker. For people only. */
  readonly at: number;
  /** Name of the worker. */
  readonly by: string;
  /** Release that wrote it. */
  readonly version: string;
}
