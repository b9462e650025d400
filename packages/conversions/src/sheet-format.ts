import type { Acceptance, Conversion, ConversionRules } from './conversion.ts';
import type { LedgerEntry } from './entry.ts';
import { toE164 } from './phone.ts';

/** One column of a sheet: how a cell is made, and what a cell may hold. */
export interface SheetColumn<T = Conversion> {
  /** Heading, spelled as the tool wants it. */
  readonly title: string;
  /** The cell of a conversion, or of an adjustment of one; null for an empty one. */
  cell(item: T, rules: ConversionRules): string | null;
  /** What a cell may hold. */
  readonly pattern: RegExp;
  /** Cells may be empty. Default false. */
  readonly isOptional?: boolean;
  /**
   * The tool recognises a repeated conversion by this column, with all others that say so. Default
   * false.
   */
  readonly isKey?: boolean;
  /** Phone numbers are expected here, and personal data nowhere else. Default false. */
  readonly holdsPhone?: boolean;
}

/** How the lines of a sheet are made. */
export interface SheetLayout<T = Conversion> {
  /** Between the cells. Sheets with tabs have no quotes. */
  readonly delimiter: ',' | '\t';
  /** Lines above the headings and between the headings and the rows. */
  readonly preamble?: (rules: ConversionRules) => {
    readonly before?: readonly string[];
    readonly after?: readonly string[];
  };
  /** The columns from left to right. */
  columns(rules: ConversionRules): readonly SheetColumn<T>[];
}

/**
 * A sheet that corrects the value of uploaded conversions or takes them back. The time of the
 * adjustment is `rules.now`.
 */
export interface AdjustmentFormat extends SheetLayout<LedgerEntry> {
  /** What to know before uploading the sheet. */
  readonly notes: readonly string[];
}

/** An upload format, as data: which calls a tool takes, and the sheet it reads. */
export interface SheetFormat extends SheetLayout {
  /** What `calls sheet` takes. */
  readonly name: string;
  /** What the tool calls it. */
  readonly title: string;
  /** Which calls the tool takes. */
  readonly accepts: Acceptance;
  /** The conversion name is part of the sheet. */
  readonly needsName: boolean;
  /** What to know before uploading the sheet. */
  readonly notes: readonly string[];
  /**
   * How conversions are adjusted after their upload. Absent where the tool cannot, or not by the
   * sheets it documents.
   */
  readonly adjustments?: AdjustmentFormat;
}

/** The cells of a conversion, or of an adjustment of one, from left to right. */
export type SheetRow = readonly (string | null)[];

/** What `conversions` needs to know about a tool. Every format of a sheet is one. */
export type Tool = Pick<SheetFormat, 'accepts'> & Partial<SheetFormat>;

/** What the tool recognises a repeated row by; null when it does not. */
export function keyOf(
  columns: readonly Pick<SheetColumn, 'isKey'>[],
  row: SheetRow,
): string | null {
  const key = row.filter((_, at) => columns[at]?.isKey);
  return key.length > 0 ? key.join('\u0000') : null;
}

/** The row of a sheet; null when the tool would refuse it. */
export function rowOf<T>(
  item: T,
  columns: readonly SheetColumn<T>[],
  rules: ConversionRules,
): SheetRow | null {
  const cells = columns.map((column) => column.cell(item, rules));
  const isRight = columns.every(({ pattern, isOptional, holdsPhone }, at) => {
    const cell = cells[at] ?? '';
    if (!holdsPhone && looksPersonal(cell)) return false;
    return cell === '' ? isOptional : pattern.test(cell);
  });
  return isRight ? cells : null;
}

const email = /[\p{L}\p{N}._%+'-]@[\p{L}\p{N}-]+\.[\p{L}\p{N}]/u;

/** An email address, also one that a form has encoded, or a phone number as tools take it. */
export function looksPersonal(cell: string): boolean {
  // Wide letters and signs become plain ones; two layers of encoding are what redirects make.
  const plain = cell
    .normalize('NFKC')
    .replace(/%(?:25)*40/g, '@')
    .replace(/%(?:25)*2e/gi, '.');
  return email.test(plain) || toE164(cell) === cell;
}
