import { ConfigurationError } from '@call-attribution/core/errors';
import { csvLine } from '@call-attribution/node-stream/encoders';
import { defineOperator, type Operator } from '@call-attribution/node-stream/operators';
import type { Change } from './changes.ts';
import type { ConversionRules } from './conversion.ts';
import { type AdjustmentFormat, rowOf, type SheetLayout, type SheetRow } from './sheet-format.ts';

/**
 * Encodes the conversions that a tool does not have as its sheet. All other changes are skipped. The
 * sheet is never in memory as a whole.
 *
 * @example
 * await pipeline(calls, toConversions(rules, format), toSheet(format, rules),
 * createWriteStream('clicks.csv'));
 */
export function toSheet(format: SheetLayout, rules: ConversionRules): Operator<Change, Uint8Array> {
  return encodeRows(format, rules, ({ kind, conversion }) => (kind === 'add' ? conversion : null));
}

/** Encodes corrections of uploaded conversions as the sheet of a tool. All other changes are skipped. */
export function toAdjustments(
  format: AdjustmentFormat,
  rules: ConversionRules,
): Operator<Change, Uint8Array> {
  return encodeRows(format, rules, ({ kind, entry }) =>
    kind === 'restate' || kind === 'retract' ? entry : null,
  );
}

/**
 * Writes the lines above the rows, then the row of what a change is for the sheet, where it is
 * something. A row that the tool would refuse is a `ConfigurationError`.
 */
function encodeRows<T extends { readonly sid: string }>(
  { preamble, columns: columnsOf, delimiter }: SheetLayout<T>,
  rules: ConversionRules,
  itemOf: (change: Change) => T | null,
): Operator<Change, Uint8Array> {
  return defineOperator<Change, Uint8Array>({
    name: 'sheet',
    gives: 'other',
    unsaved: 'a sheet is written in one go',
    begin() {
      const columns = columnsOf(rules);
      const titles = columns.map(({ title }) => title);
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
        page(changes) {
          const out = begin();
          for (const change of changes) {
            const item = itemOf(change);
            if (item === null) continue;
            const row = rowOf(item, columns, rules);
            if (row === null) throw ofAnotherTool(item.sid);
            out.push(Buffer.from(sheetLine(row, delimiter)));
          }
          return out;
        },
        end: begin,
      };
    },
  });
}

const ofAnotherTool = (sid: string): ConfigurationError =>
  new ConfigurationError(
    'invalid_option',
    `call ${sid} was judged for another tool, or the ledger has an upload to another tool: give each tool a destination of its own`,
  );

/**
 * One line of a sheet with its line end. In a sheet with tabs, which has no quotes, tabs and line
 * breaks become spaces.
 */
function sheetLine(cells: SheetRow, delimiter: SheetLayout['delimiter']): string {
  if (delimiter === ',') return csvLine(cells);
  return `${cells.map((cell) => (cell ?? '').replace(/[\t\r\n]+/g, ' ')).join('\t')}\r\n`;
}
