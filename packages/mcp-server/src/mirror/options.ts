import type { Duration } from '@call-attribution/core/time';

/** A local copy of all calls, which questions are answered from. Needs the package `@call-attribution/warehouse`. */
export interface MirrorOptions {
  /** The DuckDB file. It is made when it does not exist. */
  readonly file: string;
  /** Time between two refreshes in the background. Default `10m`. */
  readonly every?: Duration | undefined;
}
