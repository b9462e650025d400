import type { Acceptance, Conversion, ConversionRules } from './conversion.ts';
import type { LedgerEntry } from './entry.ts';
import type { SheetFault } from './reasons.ts';

/** Names of the upload formats, as `calls sheet` takes them. */
export type SheetFormatName =
  | 'google-ads-calls'
  | 'google-ads-clicks'
  | 'microsoft-ads'
  | 'microsoft-bulk'
  | 'sa360'
  | 'skai'
  | 'marin';

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
  readonly name: SheetFormatName;
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
  /** The rows say how long the talk was, so that a changed length matters to the tool. Default false. */
  readonly holdsTalk?: boolean;
}

/** The row of a conversion, as it was made and checked while its call was judged. */
export interface SheetRow {
  /** The cells from left to right. */
  readonly cells: readonly (string | null)[];
  /** What the tool would refuse in it because of the rules, such as a conversion name that is an address. */
  readonly faults: readonly SheetFault[];
  /** The columns that made it. A sheet of other columns makes its own row. */
  readonly columns: Tool['columns'];
  /** The rules that it was made by. */
  readonly rules: ConversionRules;
}

/** What `conversions` needs to know about a tool. Every format of a sheet is one. */
export type Tool = Pick<SheetFormat, 'accepts'> & Partial<SheetFormat>;
