import type { Call } from '@call-attribution/core';
import { checkSheet } from './check-sheet.ts';
import { type ConversionRules, conversionOf } from './conversion.ts';
import type { LeftOutReason, SheetProblem } from './reasons.ts';
import type { SheetFormat } from './sheet-format.ts';
import { headOf, keyOf, sheetLine } from './sheet-lines.ts';

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
  const seen = new Set<string>();
  let rows = 0;
  return {
    get rows() {
      return rows;
    },
    add(call) {
      const conversion = conversionOf(call, format.accepts, rules);
      if ('reason' in conversion) return conversion.reason;
      const cells = columns.map((column) => column.cell(conversion, rules));
      const key = keyOf(columns, cells) ?? conversion.sid;
      if (seen.has(key)) return 'duplicate';
      seen.add(key);
      lines.push(sheetLine(cells, format.delimiter));
      rows += 1;
      return null;
    },
    lines: () => lines,
    check: () => checkSheet(lines.join(''), format, rules),
  };
}
