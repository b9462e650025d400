import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';

/** The options of `openStore`. */
export const storeOptions = defineOptions({
  /**
   * SQLite: `normal` survives a killed process, but a power failure may lose the last batches, which a sync reads again.
   * `full` survives that too and is slower. Default `normal`.
   */
  synchronous: option.oneOf('normal', 'full').default('normal'),
  /** Only reads: nothing is created or changed, and a store that is not there is an error. Default false. */
  readOnly: option.flag().default(false),
  /** PostgreSQL: most connections of this process. Default 10. */
  poolSize: option.whole(1).default(10),
  /** PostgreSQL: how long a statement may run. 0: no limit. Default `30s`. */
  // PostgreSQL takes whole milliseconds.
  statementTimeout: option.duration().as(Math.ceil).default('30s'),
  /** The clock for the times of syncs. Default: that of the machine. */
  clock: option.clock(),
});

/** How a store is opened. Options of the other database have no effect. */
export interface StoreOptions extends OptionsOf<typeof storeOptions> {}

/** What no option changes, times in milliseconds. Tests set less, to reach what takes many calls or long waits otherwise. */
export const storeLimits = {
  /** How long a writer waits for another one, which with SQLite is any other process. */
  busyTimeout: 30_000,
  /** PostgreSQL: how long to wait for a connection. */
  connectTimeout: 10_000,
  /**
   * PostgreSQL: after how long the server ends a transaction in which this process no longer does anything, as when
   * it was stopped. Until then such a process keeps others from writing to the account.
   */
  idleTransactionTimeout: 15_000,
  /** PostgreSQL: how long to try again after a connection was lost or refused. */
  reconnectTimeout: 5_000,
};

/** The options with their defaults, and the limits. */
export interface StoreSettings extends ReadOf<typeof storeOptions>, Readonly<typeof storeLimits> {}

/** What a store is opened with when nothing is said. */
export const usualSettings: StoreSettings = { ...storeOptions.fill({}), ...storeLimits };
