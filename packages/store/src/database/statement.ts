import { fields } from '@call-attribution/core/record';
import type { ParquetType } from '@call-attribution/node-stream/encoders';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { StoreError } from './errors.ts';

/** A column of the rows of a statement. */
export interface SqlColumn {
  /** Its name. A second column of the same name gets `:1`. */
  readonly name: string;
  /** The column type for files. */
  readonly type: ParquetType;
}

/** A row: numbers that would lose digits, dates and times are text. */
export type SqlRow = Readonly<Record<string, string | number | boolean | null>>;

/**
 * The rows of a statement. Read them to the end, leave the loop, or close it: until then the
 * database is open.
 */
export interface SqlResult extends AsyncIterable<SqlRow>, AsyncDisposable {
  /** The columns, in order. */
  readonly columns: readonly SqlColumn[];
  /** Ends the statement and closes the database. Reading all rows does the same. */
  close(): Promise<void>;
}

/** A statement that a database runs, and how it is ended. */
export interface Statement {
  /** Runs it up to its first rows. `next` gives some rows more, and none at the end. */
  open(): Promise<{ readonly columns: readonly SqlColumn[]; next(): Promise<readonly SqlRow[]> }>;
  /** Ends what runs at the moment, at once. */
  interrupt(): void;
  close(): Promise<void>;
}

/** How a statement is run. */
export interface StatementLimits {
  /** Most rows that are wanted. */
  readonly most: number;
  /** Milliseconds. */
  readonly timeLimit: number;
  /** The store, as messages may show it. */
  readonly name: string;
}

/** A statement that ran into its limit, whichever clock saw it first: ours or the server's. */
export const tookTooLong = (timeLimit: number): StoreError =>
  new StoreError(
    'time_limit',
    `The statement took longer than ${timeLimit / 1000} s and was stopped.`,
  );

/** A statement that does more than read, or several. */
export const onlyReads = (cause?: unknown): StoreError =>
  new StoreError(
    'invalid_sql',
    {
      message:
        'The SQL was refused. It has to be one statement that reads: SELECT, WITH, VALUES or EXPLAIN.',
      hint: 'It cannot change calls: calls sync brings them, calls store purge and calls store erase delete them.',
    },
    { cause },
  );

const columns = ['account', ...fields.map(({ name }) => name)];

/**
 * What to type instead of a column that the view `calls` does not have: for `campaing` and
 * `campaign`, `ppc_campaign`.
 */
export function columnHint(unknown = ''): string {
  const near = nearest(unknown, [...columns, ...columns.flatMap((name) => name.split('_'))]);
  if (near === undefined)
    return 'The view calls has a column for each field: calls fields lists them.';
  if (columns.includes(near)) return `Did you mean ${near}?`;

  // The names that people use, campaign and keyword, are words of several columns; that of the ad
  // is meant most.
  const rank = (name: string): number => name.length + (name.startsWith('ppc_') ? 0 : 100);
  const meant = columns
    .filter((name) => name.split('_').some((word) => word.startsWith(near)))
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, 3);
  return `Did you mean ${meant.join(' or ')}?`;
}

/** Names of columns, each different. */
export function differentNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let copy = 1; taken.has(own); copy += 1) own = `${name}:${copy}`;
    taken.add(own);
    return own;
  });
}

/**
 * A number, unless a digit would be lost or it would be written with an exponent: then the text.
 */
export function exactNumber(text: string): number | string {
  const number = Number(text);
  const isExact = text.replace(/\D/g, '').length <= 15 && !String(number).includes('e');
  return isExact && Number.isFinite(number) ? number : text;
}
