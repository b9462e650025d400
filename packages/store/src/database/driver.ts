import type { Clock } from '@call-attribution/core';
import { recordColumns } from '../columns.ts';

/** A parameter of a statement. Lists go through {@link Dialect.list}. */
export type Value = string | number | null | readonly (string | null)[];

/** One row as the driver returns it, by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** Statements on one connection. Parameters are written `$1`, `$2` on both databases. */
export interface Session {
  /** Runs a statement and returns its rows. */
  all(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** Runs a statement and returns the number of changed rows. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
  /**
   * Sends rows of `records` to the database, in place of those sent before, so that `put` has only
   * to add them. A process that is stopped while it sends holds no locks yet.
   */
  stage(rows: readonly (readonly Value[])[]): Promise<void>;
  /**
   * Adds the rows that were sent, or replaces those that are there and differ; where all are new,
   * without looking for them. Rows that are written have changed at `time`; others keep theirs.
   * Returns the number of rows that were written.
   */
  put(time: string, areNew: boolean): Promise<number>;
}

/** The few points in which the SQL of the two databases differs. */
export interface Dialect {
  /** Column type of a key that sorts by its bytes. */
  readonly key: string;
  /** Precedes the name of a table or an index that is created. */
  readonly schema: string;
  /** A condition: `column` is in the list bound to `placeholder`. */
  isIn(column: string, placeholder: string): string;
  /**
   * Selects columns of calls by the account, `$1`, and a list of sids, `$2`. Each is looked up,
   * whatever the planner knows of the table.
   */
  lookUp(columns: string): string;
  /** A list in the form that `isIn` and `lookUp` take. */
  list(values: readonly string[]): Value;
  /** An aggregate: the values of a column as one text of JSON. */
  jsonOf(column: string): string;
  /** A timestamp as text, with so many digits of a fraction of the second. Default none. */
  text(column: string, digits?: 0 | 1 | 3): string;
  /** A text of that form as a timestamp. */
  timestamp(placeholder: string): string;
  /** Can columns have comments? */
  readonly hasComments: boolean;
  /** Appended to a `SELECT` that has to keep others from writing the same account. */
  readonly lock: string;
  /** The time by the clock of the database, in milliseconds since 1970. */
  readonly now: string;
  /**
   * Selects `table_name`, `name` and `type` of the columns of the tables of a store that are there.
   */
  columnsQuery(tables: readonly string[]): string;
}

/** Why deleted bytes may still be in the database. */
export type Remains = 'vacuum' | 'in_use';

/** A database, as the store uses it. Its errors are `StoreError`s. */
export interface Driver {
  readonly dialect: Dialect;
  /** The clock for the times of syncs and changes. */
  readonly clock: Pick<Clock, 'now'>;
  /** Rows of a transaction when many are written. */
  readonly writesAtOnce: number;
  /** Runs a statement that only reads, and returns its rows. */
  all(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /**
   * Runs `body` on one snapshot: all its statements see the same state. `body` can be run several
   * times.
   */
  read<T>(body: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Gives what `body` gives, all from one snapshot, on a connection of its own. A database in memory
   * has one connection: each part is then from a snapshot of its own.
   */
  stream<T>(body: (session: Session) => AsyncGenerator<T>): AsyncGenerator<T>;
  /** Runs `body` in a transaction, and again from the start when that helps after an error. */
  write<T>(body: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Removes what deleted rows have left in the files. Returns why some of it may still be there:
   * `vacuum`, the database has to be told so by its administrator; `in_use`, another process uses
   * the file.
   *
   * @param isWhole write the whole database again, which takes a while, so that nothing at all is left.
   */
  overwriteDeleted(isWhole: boolean): Promise<readonly Remains[]>;
  close(): Promise<void>;
}

const names = [...recordColumns.keys()].map((name) => `"${name}"`);
const others = names.slice(2);

/** Names of the columns of `records`, as SQL. */
export const recordNames: string = names.join(', ');

/**
 * What follows the rows of an insert into `records`: a row that is there is replaced, unless it is
 * the same. The time when it was stored stays.
 */
export const orReplace: string = `ON CONFLICT (account, sid) DO UPDATE SET ${[...others, 'changed_at'].map((name) => `${name} = excluded.${name}`).join(', ')}`;

/**
 * The condition that a row differs from the one that is there, with the operator of the database.
 */
export const differs = (operator: string): string =>
  others.map((name) => `records.${name} ${operator} excluded.${name}`).join(' OR ');
