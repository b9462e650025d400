import type { Call } from '@call-attribution/core';
import { defineOperator, type Operator } from '@call-attribution/node-stream/operators';
import { createJudge } from './callers.ts';
import { checkRules } from './check-rules.ts';
import type { Conversion, ConversionRules } from './conversion.ts';
import type { LeftOutReason, SheetFault } from './reasons.ts';
import type { SheetRow, Tool } from './sheet-format.ts';
import { keyOf, rowMaker } from './sheet-lines.ts';

/** A conversion, and the row of the sheet that it becomes. */
export interface Converted {
  /** The conversion. */
  readonly conversion: Conversion;
  /** Its row, which `toSheet` writes. */
  readonly row: SheetRow;
}

/** What a call is for a tool: a conversion, or a call that is left out and why. */
export type Outcome =
  | ({ readonly call: Call } & Converted)
  | { readonly call: Call; readonly leftOut: LeftOutReason };

/**
 * Judges calls for a tool: each becomes a conversion, or is left out for a reason. Calls may come from the API or a store,
 * in order of their time. Rules that make no sense are refused at once with a `RulesError`.
 *
 * @example
 * for await (const outcome of conversions(createCallStream(client), rules, sheetFormats.sa360))
 *   console.log(outcome.call.sid, 'leftOut' in outcome ? reasonTexts[outcome.leftOut] : outcome.conversion.value);
 */
export function conversions(
  calls: AsyncIterable<Call> | Iterable<Call>,
  rules: ConversionRules,
  tool: Tool,
): AsyncIterable<Outcome> {
  return toConversions(rules, tool)(calls);
}

/**
 * `conversions` as an operator, for `pipeline` and `through`.
 *
 * @example
 * const format = sheetFormats['google-ads-clicks'];
 * await pipeline(createCallStream(client), toConversions(rules, format), toSheet(format, rules), createWriteStream('clicks.csv'));
 */
export function toConversions(rules: ConversionRules, tool: Tool): Operator<Call, Outcome> {
  checkRules(rules, tool);
  return defineOperator<Call, Outcome>({
    name: 'toConversions',
    unsaved: 'the judge of conversions remembers callers, and cannot be saved',
    begin() {
      const outcomeOf = createOutcomes(rules, tool);
      return { page: (calls) => calls.flatMap((call) => outcomeOf(call) ?? []) };
    },
  });
}

/** Judges one call after the other. Null for a call before `rules.from`, which only says something about its caller. */
function createOutcomes(rules: ConversionRules, tool: Tool): (call: Call) => Outcome | null {
  const judge = createJudge(tool.accepts, rules);
  const columns = tool.columns?.(rules) ?? [];
  const rowOf = rowMaker(() => columns, rules);
  const seen = new Set<string>();
  return (call) => {
    const found = judge(call);
    if (rules.from !== undefined && String(call.date_added) < rules.from) return null;
    if ('reason' in found) return { call, leftOut: found.reason };
    const { cells, faults } = rowOf(found);
    // A sheet must not fail because of what one visitor made of an address. What the rules say is the same in every row.
    const isOfRules = (fault: SheetFault): boolean =>
      cells[columns.findIndex(({ title }) => title === fault.column)] === rules.conversionName;
    if (!faults.every(isOfRules)) return { call, leftOut: 'wrong_form' };
    // Where rows have no key, the tool would count a repeated call again.
    const key = keyOf(columns, cells) ?? found.sid;
    if (seen.has(key)) return { call, leftOut: 'duplicate' };
    seen.add(key);
    return { call, conversion: found, row: { cells, faults, columns: tool.columns, rules } };
  };
}
