import type { Call } from '@call-attribution/core';
import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';
import { Operator } from '@call-attribution/node-stream/operators';
import { checkSheet, rowProblems } from './check-sheet.ts';
import type { Conversion, ConversionRules } from './conversion.ts';
import { createOutcomes, type Outcome } from './conversions.ts';
import type { LeftOutReason, SheetFault, SheetProblem } from './reasons.ts';
import type { SheetFormat, SheetLayout } from './sheet-format.ts';
import { headOf, sheetLine } from './sheet-lines.ts';
import { sheetProblemText } from './words.ts';

/** The upload sheet of one tool, filled call by call and held in memory until it is checked. */
export interface Sheet {
  /** How many conversions it has. */
  readonly rows: number;
  /** Adds the conversion that the call is; otherwise returns the reason why it is left out. */
  add(call: Call): LeftOutReason | null;
  /** Its lines, each with its line end. */
  lines(): readonly string[];
  /** Everything the tool would refuse; empty when the sheet is ready for upload. */
  check(): SheetProblem[];
}

/**
 * Starts an empty upload sheet.
 *
 * @example
 * const sheet = createSheet(sheetFormats['google-ads-clicks'], { timeZone, conversionName: 'Phone lead', now: Date.now() });
 * for await (const call of createCallStream(client)) sheet.add(call);
 * if (sheet.check().length === 0) await writeFile('clicks.csv', sheet.lines());
 */
export function createSheet(format: SheetFormat, rules: ConversionRules): Sheet {
  const columns = format.columns(rules);
  const lines = headOf(format, rules).map((cells) => sheetLine(cells, format.delimiter));
  const outcomeOf = createOutcomes(rules, format);
  let rows = 0;
  return {
    get rows() {
      return rows;
    },
    add(call) {
      const outcome = outcomeOf(call);
      if (outcome === null) return null;
      if ('leftOut' in outcome) return outcome.leftOut;
      const cells = columns.map((column) => column.cell(outcome.conversion, rules));
      lines.push(sheetLine(cells, format.delimiter));
      rows += 1;
      return null;
    },
    lines: () => lines,
    check: () => checkSheet(lines.join(''), format, rules),
  };
}

const sheetErrors = codeTable<SheetFault['code']>({
  open_quote: 'A quote is never closed. The sheet was changed after it was made; make it again.',
  wrong_head:
    'The first line is not the one that the tool expects. Make the sheet again with the format of the tool.',
  wrong_cell_count:
    'A row has another number of cells than the first line. The sheet was changed after it was made; make it again.',
  personal_data:
    'A column holds personal data that the tool does not take. Do not upload the sheet; choose another column.',
  wrong_form:
    'A cell does not have the form that the tool accepts. Check the rules: the name, currency and time zone.',
  repeated_row: 'Two rows are the same conversion. Remove one of them.',
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
    super(problem.code, `line ${problem.line}: ${sheetProblemText(problem)}`);
    this.problem = problem;
  }
}

/**
 * Encodes conversions as the sheet of a tool, checking each row before it is written: a row that the tool would refuse is a
 * `SheetError`. Calls that are left out are skipped. The sheet is never in memory as a whole.
 *
 * @example
 * await pipeline(calls, toConversions(rules, format), toSheet(format, rules), createWriteStream('clicks.csv'));
 */
export function toSheet<T extends object = Conversion>(
  format: SheetLayout<T>,
  rules: ConversionRules,
): Operator<T | Outcome, Uint8Array> {
  const columns = format.columns(rules);
  return new Operator<T | Outcome, Uint8Array>(
    ({ emit, continued }) => {
      const head = headOf(format, rules).map((cells) => sheetLine(cells, format.delimiter));
      let line = head.length;
      let begun = continued === true;
      const begin = () => {
        if (!begun) emit(Buffer.from(head.join('')));
        begun = true;
      };
      return {
        push(item) {
          begin();
          if ('leftOut' in item) return;
          const row = 'conversion' in item ? (item.conversion as unknown as T) : item;
          const cells = columns.map((column) => column.cell(row, rules));
          line += 1;
          const [problem] = rowProblems(cells, columns, line);
          if (problem) throw new SheetError(problem);
          emit(Buffer.from(sheetLine(cells, format.delimiter)));
        },
        end: begin,
      };
    },
    { bytes: true },
  );
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `SheetError` of conversions. */
    SheetError: SheetError;
  }
}
