import { ConfigurationError } from '@call-attribution/core/errors';

/**
 * A cell of a table: a number where a sheet holds one, else a text without blanks around it. A date
 * of a sheet is the text `2026-10-01`, with a time of day `2026-10-01 08:30:00`.
 */
export type TableCell = string | number;

/** A row of a table. Rows without anything in them are left out. */
export interface TableRow {
  /** The line of the file on which it begins, or its row in a sheet; the first is 1. */
  readonly line: number;
  /** Its cells. Rows may have different numbers of them. */
  readonly cells: readonly TableCell[];
}

/** A problem of a file of rows. `line` is the line or the row that has it. */
export function tableProblem(
  called: string,
  line: number | null,
  message: string,
  hint?: string,
): ConfigurationError {
  const place = line === null ? called : `${called}, row ${line}`;
  return new ConfigurationError('invalid_option', { message: `${place}: ${message}`, hint });
}
