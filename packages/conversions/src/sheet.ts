import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';
import { defineOperator, type Operator } from '@call-attribution/node-stream/operators';
import type { Conversion, ConversionRules } from './conversion.ts';
import type { Converted, Outcome } from './conversions.ts';
import type { LedgerEntry } from './entry.ts';
import type { SheetFault, SheetProblem } from './reasons.ts';
import type { AdjustmentFormat, SheetLayout, SheetRow } from './sheet-format.ts';
import { headOf, rowMaker, sheetLine } from './sheet-lines.ts';

const sheetErrors = codeTable({
  data: {
    personal_data:
      'A column holds personal data that the tool does not take. Do not upload the sheet; choose another column.',
    wrong_form:
      'A cell does not have the form that the tool accepts. Check the rules: the name, currency and time zone.',
  },
});

/** A row that the tool would refuse. The message has the line and the column, never the content of a cell. */
export class SheetError extends CallsError<SheetFault['code']> {
  static override readonly codes: CodeTable = sheetErrors;
  /** What is wrong, and where. */
  readonly problem: SheetProblem;

  static {
    nameErrors(SheetError, 'SheetError');
  }

  constructor(problem: SheetProblem) {
    const what =
      problem.code === 'personal_data' ? 'holds personal data' : `must look like ${problem.example}`;
    super(problem.code, `line ${problem.line}: ${problem.column} ${what}`);
    this.problem = problem;
  }
}

/**
 * Encodes conversions as the sheet of a tool: an outcome or a `Converted` by the row that was made and checked when its call was
 * judged, a conversion alone by a row of its own. A row that the tool would refuse is not written; it is a `SheetError`. Calls
 * that are left out are skipped. The sheet is never in memory as a whole.
 *
 * @example
 * await pipeline(calls, toConversions(rules, format), toSheet(format, rules), createWriteStream('clicks.csv'));
 */
export function toSheet(
  format: SheetLayout,
  rules: ConversionRules,
): Operator<Conversion | Converted | Outcome, Uint8Array> {
  const make = rowMaker(format.columns, rules);
  return encodeRows(format, rules, (item: Conversion | Converted | Outcome) => {
    if ('leftOut' in item) return null;
    if (!('conversion' in item)) return make(item);
    const { conversion, row } = item;
    // A row by other columns or other rules belongs to another sheet.
    return row.columns === format.columns && row.rules === rules ? row : make(conversion);
  });
}

/** Encodes adjustments of uploaded conversions as the sheet of a tool. Each row is checked as those of `toSheet`. */
export function toAdjustments(
  format: AdjustmentFormat,
  rules: ConversionRules,
): Operator<LedgerEntry, Uint8Array> {
  return encodeRows(format, rules, rowMaker(format.columns, rules));
}

/** Writes the lines above the rows, then the row of each item that has one. */
function encodeRows<L, I>(
  layout: SheetLayout<L>,
  rules: ConversionRules,
  rowOf: (item: I) => Pick<SheetRow, 'cells' | 'faults'> | null,
): Operator<I, Uint8Array> {
  return defineOperator<I, Uint8Array>({
    name: 'sheet',
    unsaved: 'a sheet is written in one go',
    begin() {
      const head = headOf(layout, rules).map((cells) => sheetLine(cells, layout.delimiter));
      let line = head.length;
      let begun = false;
      const begin = (): Uint8Array[] => {
        const out = begun ? [] : [Buffer.from(head.join(''))];
        begun = true;
        return out;
      };
      return {
        page(items) {
          const out = begin();
          for (const item of items) {
            const row = rowOf(item);
            if (row === null) continue;
            line += 1;
            const [fault] = row.faults;
            if (fault !== undefined) throw new SheetError({ line, ...fault });
            out.push(Buffer.from(sheetLine(row.cells, layout.delimiter)));
          }
          return out;
        },
        end: begin,
      };
    },
  });
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `SheetError` of conversions. */
    SheetError: SheetError;
  }
}
