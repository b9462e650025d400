import { QuestionError } from '../errors.ts';

/** A row of a table, as a file has it. */
export interface TableRow {
  /** The line in the file, from 1. */
  readonly line: number;
  /** Its cells from left to right; a number where a sheet holds one. */
  readonly cells: readonly (string | number)[];
}

/** A file of outcomes that was opened: its name, for what is said of it, and its rows. */
export interface OutcomeFile {
  /** What messages call it. */
  readonly name: string;
  /** Its rows from the top, with their lines. */
  readonly rows: readonly TableRow[];
}

/**
 * What a call became later, as a row of a file says it. Times are naive milliseconds on the clock of
 * the account.
 */
export interface Outcome {
  /** The file and row that it was read from, such as `sales.csv, row 12`. */
  readonly place: string;
  /** Who it is of, as `callerOf` says; null where the cell is no number that somebody calls from. */
  readonly caller: number | null;
  /** When it was. Of a date alone, when that day begins. */
  readonly time: number;
  /** When the day, minute or second is over that the row names. */
  readonly until: number;
  /** The instant, where the row has an offset from UTC; otherwise null. */
  readonly instant: number | null;
  /** What it is worth. */
  readonly value: number;
  /** Currency of the value, or `$`, which is the sign of several; null where the file says none. */
  readonly currency: string | null;
  /** What kind of conversion it is, where the file says so. */
  readonly conversion: string | null;
  /** What the file knows it by; null where it has no ids. */
  readonly id: string | null;
  /** False for what was cancelled or is worth 0: it counts no longer. */
  readonly counts: boolean;
}

/** The error of a row that cannot be taken as it is. It never has a number of a caller. */
export const refuseRow = (place: string, text: string): QuestionError =>
  new QuestionError('invalid_question', `${place}: ${text}`);
