import type { Erasure } from '@call-attribution/node-stream/copies';

/** A parameter of a statement. Lists go through {@link Dialect.list}. */
export type Value = string | number | null | readonly (string | null)[];

/** One row as the driver returns it, by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** An insert of many rows. */
export interface Insert {
  /** The table. */
  readonly into: string;
  /** Its columns, in the order of the values. With `otherwise`, a column has whole numbers or texts. */
  readonly columns: readonly string[];
  /** What follows the values, such as `ON CONFLICT ...`. Without it none of the rows may exist. */
  readonly otherwise?: string;
}

/** Statements on one connection. Parameters are written `$1`, `$2` on both databases. */
export interface Session {
  /** Runs a statement and returns its rows. */
  all(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** Runs a statement and returns the number of changed rows. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
  /** Inserts rows, whose values are asked for when they are sent, and returns the number of inserted or changed rows. */
  many<T>(insert: Insert, rows: readonly T[], valuesOf: (row: T) => readonly Value[]): Promise<number>;
}

/** The few points in which the SQL of the two databases differs. */
export interface Dialect {
  /** Column type of a key that sorts by its bytes. */
  readonly key: string;
  /** Precedes the name of a table or an index that is created. */
  readonly schema: string;
  /** What follows the definition of a table whose rows are stored in the primary key. */
  readonly clustered: string;
  /** A condition: `column` is in the list bound to `placeholder`. */
  isIn(column: string, placeholder: string): string;
  /** Selects columns of calls by the account, `$1`, and a list of sids, `$2`. Each is looked up, whatever the planner knows of the table. */
  lookUp(columns: string): string;
  /** A list in the form that `isIn` and `lookUp` take. */
  list(values: readonly string[]): Value;
  /** What tells a row from others on one snapshot, as a number. */
  readonly rowId: string;
  /** An aggregate: the values of a column as one text of JSON. */
  jsonOf(column: string): string;
  /**
   * Selects the rows of first calls, `ids` as JSON, of so many callers with a number: `callers` says how many, `last` is the last one.
   * Parameters: the account, the caller before, the period in which the call has to be, what stands for no time, and the time that
   * counts instead.
   */
  firstCalls(callers: number): string;
  /** The columns that an index of pages has besides its key. */
  readonly pageColumns: string;
  /** Can columns have comments? */
  readonly hasComments: boolean;
  /** Appended to a `SELECT` that has to keep others from writing the same account. */
  readonly lock: string;
  /** The time by the clock of the database, in milliseconds since 1970. */
  readonly now: string;
  /** Selects the size of the whole database in bytes. */
  readonly sizeQuery: string;
}

/** What a transaction is like. */
export interface WorkOptions {
  /** Upkeep that reads whole tables: its statements have no time limit. */
  isSlow?: boolean | undefined;
  /** It reads for seconds, so it must not keep other reads waiting. */
  isLong?: boolean | undefined;
}

/** A database, as the store uses it. Its errors are `StoreError`s. */
export interface Driver {
  readonly dialect: Dialect;
  /** How many calls of `all` and `read` run at the same time. */
  readonly readsAtOnce: number;
  /** Calls of a transaction when many are loaded. */
  readonly loadsAtOnce: number;
  /** Runs a statement that only reads, and returns its rows. */
  all(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** Runs `body` on one snapshot: all its statements see the same state. `body` can be run several times. */
  read<T>(body: (session: Session) => Promise<T>, work?: WorkOptions): Promise<T>;
  /** Runs `body` in a transaction, and again from the start when that helps after an error. */
  write<T>(body: (session: Session) => Promise<T>, work?: WorkOptions): Promise<T>;
  /**
   * Removes what deleted rows have left in the files. Returns why some of it may still be there: `vacuum`, the database has to be told so
   * by its administrator; `in_use`, another process uses the file.
   *
   * @param isWhole write the whole database again, which takes a while, so that nothing at all is left.
   */
  scrub(isWhole: boolean): Promise<Erasure['remains']>;
  close(): Promise<void>;
}
