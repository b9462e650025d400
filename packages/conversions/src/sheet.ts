import { ConfigurationError } from '@call-attribution/core/errors';
import { csvLine } from '@call-attribution/node-stream/encoders';
import { defineOperator, type Operator } from '@call-attribution/node-stream/operators';
import type { ConversionRules } from './conversion.ts';
import type { Converted, Outcome } from './conversions.ts';
import type { LedgerEntry } from './entry.ts';
import { type AdjustmentFormat, rowOf, type SheetLayout, type SheetRow } from './sheet-format.ts';

/**
 * Encodes conversions as the sheet of a tool, each by the row that was made and checked when its
 * call was judged for that tool. Calls that are left out are skipped. The sheet is never in memory
 * as a whole.
 *
 * @example
 * await pipeline(calls, toConversions(rules, format), toSheet(format, rules),
 * createWriteStream('clicks.csv'));
 */
export function toSheet(
  format: SheetLayout,
  rules: ConversionRules,
): Operator<Converted | Outcome, Uint8Array> {
  return encodeRows(format, rules, (item) => ('leftOut' in item ? null : item.row));
}

/**
 * Encodes adjustments of uploaded conversions as the sheet of a tool. A row that the tool would
 * refuse is a `ConfigurationError`.
 */
export function toAdjustments(
  format: AdjustmentFormat,
  rules: ConversionRules,
): Operator<LedgerEntry, Uint8Array> {
  const columns = format.columns(rules);
  return encodeRows(format, rules, (entry) => {
    const row = rowOf(entry, columns, rules);
    if (row !== null) return row;
    const other = 'an upload to another tool: give each tool a destination of its own';
    throw new ConfigurationError(
      'invalid_option',
      `what the ledger says of call ${entry.sid} is ${other}`,
    );
  });
}

/** Writes the lines above the rows, then the row of each item that has one. */
function encodeRows<L, I>(
  { preamble, columns, delimiter }: SheetLayout<L>,
  rules: ConversionRules,
  rowFor: (item: I) => SheetRow | null,
): Operator<I, Uint8Array> {
  return defineOperator<I, Uint8Array>({
    name: 'sheet',
    unsaved: 'a sheet is written in one go',
    begin() {
      const titles = columns(rules).map(({ title }) => title);
      const { before, after } = preamble?.(rules) ?? {};
      const filled = (cells: readonly string[] | undefined) =>
        cells ? [titles.map((_, at) => cells[at] || null)] : [];
      const head = [...filled(before), titles, ...filled(after)];
      let begun = false;

      const begin = (): Uint8Array[] => {
        const out = begun
          ? []
          : [Buffer.from(head.map((cells) => sheetLine(cells, delimiter)).join(''))];
        begun = true;
        return out;
      };

      return {
        page(items) {
          const out = begin();
          for (const item of items) {
            const row = rowFor(item);
            if (row !== null) out.push(Buffer.from(sheetLine(row, delimiter)));
          }
          return out;
        },
        end: begin,
      };
    },
  });
}

/**
 * One line of a sheet with its line end. In a sheet with tabs, which has no quotes, tabs and line
 * breaks become spaces.
 */
function sheetLine(cells: SheetRow, delimiter: SheetLayout['delimiter']): string {
  if (delimiter === ',') return csvLine(cells);
  return `${cells.map((cell) => (cell ?? '').replace(/[\t\r\n]+/g, ' ')).join('\t')}\r\n`;
}
