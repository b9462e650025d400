import type { Duration } from '@call-attribution/core/time';
/** What is written on a board: plain JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** One value of a board. */
export interface BoardEntry<T = Json> {
  /** Its key. */
  readonly key: string;
  /** What was written. */
  readonly value: T;
  /** Grows with each write. Needed to write the next value. */
  readonly revision: number;
  /** When it was written, in milliseconds by the clock of the board's server. */
  readonly at: number;
}

/**
 * A small map of values with compare-and-set, and a live copy of it in each worker: who does what, rates, orders. It can be lost or
 * wrong without any harm to what lies in the target.
 */
export interface Board extends AsyncDisposable {
  /** Where it is, without a password. */
  readonly name: string;
  /** Time by the clock of the board's server, in milliseconds. */
  now(): number;
  /** Board time since when writes have gone through without a break; null while they do not. */
  readonly contactSince: number | null;
  /** The value of a key in the live copy. */
  get(key: string): BoardEntry | undefined;
  /** The values of all keys that begin with `prefix`, in the live copy. */
  entries(prefix: string): Iterable<BoardEntry>;
  /**
   * Writes when `revision` is still that of the key (0: there is no such key). Null: somebody else was first. Throws
   * `board_unavailable` when it is not known whether the value was written. The live copy has the new value at once.
   */
  write(key: string, value: Json, revision: number): Promise<BoardEntry | null>;
  /** Resolves at the next change of the live copy, after `within`, or with the signal (without throwing). */
  changed(options?: { signal?: AbortSignal | undefined; within?: Duration | undefined }): Promise<void>;
  /** Ends the live copy and the connection. */
  close(): Promise<void>;
}
