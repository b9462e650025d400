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
  /** A good cell, for messages. */
  readonly example: string;
  /** Cells may be empty. Default false. */
  readonly isOptional?: boolean;
  /** The tool recognises a repeated conversion by this column, with all others that say so. Default false. */
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

/** A sheet that corrects the value of uploaded conversions or takes them back. The time of the adjustment is `rules.now`. */
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
  /** How conversions are adjusted after their upload. Absent where the tool cannot, or not by the sheets it documents. */
  readonly adjustments?: AdjustmentFormat;
}

/** The row of a conversion, as it was made and checked while its call was judged. */
export interface SheetRow {
  /** The cells from left to right. */
  readonly cells: readonly (string | null)[];
  /** What the tool would refuse in it because of the rules, such as a conversion name that is an address. */
  readonly faults: readonly SheetFault[];
}

/** What the tool would refuse in a row. */
export interface SheetFault {
  /** The heading of the column. */
  readonly column: string;
  /** What is wrong, as what follows the heading in a sentence. */
  readonly text: string;
}

/** What `conversions` needs to know about a tool. Every format of a sheet is one. */
export type Tool = Pick<SheetFormat, 'accepts'> & Partial<SheetFormat>;

/** What the tool recognises a repeated row by; null when it does not. */
export function keyOf(columns: readonly Pick<SheetColumn, 'isKey'>[], { cells }: SheetRow): string | null {
  const key = cells.filter((_, at) => columns[at]?.isKey);
  return key.length > 0 ? key.join('\u0000') : null;
}

/** Makes the rows of a sheet, and checks each. */
export function rowMaker<T>(
  columns: readonly SheetColumn<T>[],
  rules: ConversionRules,
): (item: T) => SheetRow {
  return (item) => {
    const cells = columns.map((column) => column.cell(item, rules));
    const faults = columns.flatMap(
      ({ title: column, pattern, example, isOptional, holdsPhone }, at): SheetFault[] => {
        const cell = cells[at] ?? '';
        // The cell itself is not in the fault: it may be what should not have been there.
        if (!holdsPhone && looksPersonal(cell)) return [{ column, text: 'holds personal data' }];
        const isBad = cell === '' ? !isOptional : !pattern.test(cell);
        return isBad ? [{ column, text: `must look like ${example}` }] : [];
      },
    );
    return { cells, faults };
  };
}

const email = /[\p{L}\p{N}._%+'-]@[\p{L}\p{N}-]+\.[\p{L}\p{N}]/u;

/** An email address, also one that a form has encoded, or a phone number as tools take it. */
function looksPersonal(cell: string): boolean {
  // Wide letters and signs become plain ones; two layers of encoding are what redirects make.
  const plain = cell
    .normalize('NFKC')
    .replace(/%(?:25)*40/g, '@')
    .replace(/%(?:25)*2e/gi, '.');
  return email.test(plain) || toE164(cell) === cell;
}
