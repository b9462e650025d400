import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';

// PostgreSQL takes whole milliseconds.
const wait = () => option.duration().as(Math.ceil);

/** The options of `openStore`. */
export const storeOptions = defineOptions({
  /**
   * SQLite: `normal` survives a killed process, but a power failure may lose the last batches, which a sync reads again.
   * `full` survives that too and is slower. Default `normal`.
   */
  synchronous: option.oneOf('normal', 'full').default('normal'),
  /** Only reads: nothing is created or changed, and a store that is not there is an error. Default false. */
  readOnly: option.flag().default(false),
  /** How long a writer waits for another one, which with SQLite is any other process. Default `30s`. */
  busyTimeout: wait().default('30s'),
  /** PostgreSQL: most connections of this process. Default 10. */
  poolSize: option.whole(1).default(10),
  /** PostgreSQL: how long to wait for a connection. Default `10s`. */
  connectTimeout: wait().default('10s'),
  /** PostgreSQL: how long a statement may run. 0: no limit. Default `30s`. */
  statementTimeout: wait().default('30s'),
  /** The same for a statement of `check`, `rebuild` and a change of the tables by a new release. Default `1h`. */
  slowStatementTimeout: wait().default('1h'),
  /**
   * PostgreSQL: after how long the server ends a transaction in which this process no longer does anything, as when
   * it was stopped. Until then such a process keeps others from writing to the account. 0: never. Default `15s`.
   */
  idleTransactionTimeout: wait().default('15s'),
  /** PostgreSQL: how long to try again after a connection was lost or refused. Default `5s`. */
  reconnectTimeout: wait().default('5s'),
  /**
   * For tests and benchmarks: records per statement. A longer page is read and sent in slices, so that other work gets its turn.
   * Default 250.
   */
  sliceRows: option.whole(1).default(250),
  /**
   * For tests and benchmarks: in time buckets of fewer calls the index is walked instead of splitting the bucket further.
   * Default 2,000.
   */
  walkBelow: option.whole(0).default(2_000),
  /** The clock for the times of syncs. Default: that of the machine. */
  clock: option.clock(),
});

/** How a store is opened. Options of the other database have no effect. */
export interface StoreOptions extends OptionsOf<typeof storeOptions> {}
/** The same with the defaults. */
export interface StoreSettings extends ReadOf<typeof storeOptions> {}
