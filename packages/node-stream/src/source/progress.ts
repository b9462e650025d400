/** How far a read has come. */
export interface Progress {
  /** Records the query has by the server's total; null until it is known. Moves when the server's does. */
  readonly total: number | null;
  /** Records handed to the stream, those of earlier runs included. */
  readonly done: number;
  /** Records a second in this run. */
  readonly rate: number;
  /** Milliseconds that are left at this rate; null while unknown. */
  readonly etaMs: number | null;
  /** Requests that had to be sent again. */
  readonly retries: number;
  /** Records met again and left out. */
  readonly duplicates: number;
  /** Slices begun anew because their pages did not agree. */
  readonly rereads: number;
}

/** What is known at the end of a read. */
export interface Verdict {
  /** Records the slices of the query held when they were read, in all runs; null when the server gave no totals. */
  readonly total: number | null;
  /** Records handed out in this run, changed ones included. */
  readonly delivered: number;
  /** Records handed out by the runs before, by the checkpoint this one began with. */
  readonly deliveredBefore: number;
  /** Records met again and left out. */
  readonly duplicatesDropped: number;
  /** Records handed out a second time since a new read of their slice showed other contents. */
  readonly changed: number;
  /** Records that could not be read: left out, or handed to `onError` as bytes. */
  readonly skipped: number;
  /** Slices begun anew because their pages did not agree. */
  readonly rereads: number;
  readonly slices: number;
  readonly requests: number;
  /** Every record of the query was handed out: each slice proved whole, none left out. */
  readonly complete: boolean;
}
