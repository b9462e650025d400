/** What a statement takes; a list goes through {@link Dialect.list}. */
export type Value = string | number | null | Uint8Array | readonly string[];

/** One row as the driver gives it, by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** An insert of many rows: the part before and the part after `VALUES (...)`. */
export interface Insert {
  readonly into: string;
  readonly otherwise?: string;
}

/** Statements on one connection. Parameters are written `$1`, `$2` on both databases. */
export interface Session {
  all(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** Runs a statement and says how many rows it touched. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
  /** Inserts rows and says how many were inserted or changed. */
  many(insert: Insert, rows: readonly (readonly Value[])[]): Promise<number>;
}

/** The few words in which the two databases differ. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** Column type of a stored document fragment. */
  readonly fragment: string;
  /** Column type of a key that sorts by its bytes. */
  readonly key: string;
  /** What follows a table whose rows live in the primary key. */
  readonly clustered: string;
  /** `column` is one of the list bound to `placeholder`. */
  among(column: string, placeholder: string): string;
  /** The list bound to `placeholder` as a table `listed` with the column `value`. */
  listed(placeholder: string): string;
  /** The list in the form that `among` and `listed` read. */
  list(values: readonly string[]): Value;
  /** Appended to a select that must keep others from writing the same account. */
  readonly lock: string;
  /** Bytes the whole database takes on disk. */
  readonly sizeQuery: string;
}

/** A database as the store sees it: two of these exist, and a third takes about this many lines. */
export interface Driver extends Session {
  readonly dialect: Dialect;
  /** Runs `body` on one snapshot: all its statements see the same state. */
  read<T>(body: (session: Session) => Promise<T>): Promise<T>;
  /** Runs `body` in a transaction; run again from the start when the database asks for it. */
  write<T>(body: (session: Session) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
