import { checkNames, checkWhole } from '@call-attribution/core/options';
import {
  type Clock,
  type Duration,
  durationMillis,
  systemClock,
} from '@call-attribution/core/time';

/** How a store is opened. Options of the other database have no effect. */
export interface StoreOptions {
  /**
   * SQLite: `normal` survives a killed process, but a power failure may lose the last batches,
   * which a sync reads again.
   * `full` survives that too and is slower. Default `normal`.
   */
  readonly synchronous?: 'normal' | 'full' | undefined;
  /**
   * Only reads: nothing is created or changed, and a store that is not there is an error. Default
   * false.
   */
  readonly readOnly?: boolean | undefined;
  /** PostgreSQL: most connections of this process. Default 10. */
  readonly poolSize?: number | undefined;
  /** PostgreSQL: how long a statement may run. 0: no limit. Default `30s`. */
  readonly statementTimeout?: Duration | undefined;
  /** The clock for the times of syncs and changes. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

/**
 * What no option changes, times in milliseconds. Tests set less, to reach what takes many calls or
 * long waits otherwise.
 */
export const storeLimits = {
  /** How long a writer waits for another one, which with SQLite is any other process. */
  busyTimeout: 30_000,
  /** PostgreSQL: how long to wait for a connection. */
  connectTimeout: 10_000,
  /**
   * PostgreSQL: after how long the server ends a transaction in which this process no longer does
   * anything, as when it was stopped. Until then such a process keeps others from writing to the
   * account.
   */
  idleTransactionTimeout: 15_000,
  /** PostgreSQL: how long to try again after a connection was lost or refused. */
  reconnectTimeout: 5_000,
};

const optionNames = Object.keys({
  synchronous: 1,
  readOnly: 1,
  poolSize: 1,
  statementTimeout: 1,
  clock: 1,
} satisfies Record<keyof StoreOptions, 1>);

/** The options with their defaults, and the limits. Misspelled names are refused. */
export function readStoreOptions(options: StoreOptions) {
  checkNames(options, optionNames);
  const { synchronous = 'normal', readOnly = false, poolSize = 10, clock = systemClock } = options;
  checkWhole(poolSize, 'poolSize');

  // PostgreSQL takes whole milliseconds.
  const statementTimeout = Math.ceil(
    durationMillis(options.statementTimeout ?? '30s', 'statementTimeout'),
  );
  return { ...storeLimits, synchronous, readOnly, poolSize, statementTimeout, clock };
}

/** The options with their defaults, and the limits. */
export type StoreSettings = ReturnType<typeof readStoreOptions>;
