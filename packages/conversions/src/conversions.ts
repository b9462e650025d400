import { type Call, callerOf } from '@call-attribution/core/record';
import { durationMillis, parseTime } from '@call-attribution/core/time';
import { defineOperator, type Operator } from '@call-attribution/node-stream/operators';
import { checkRules } from './check-rules.ts';
import {
  type Acceptance,
  type Conversion,
  type ConversionRules,
  conversionOf,
} from './conversion.ts';
import type { LeftOutReason } from './reasons.ts';
import { keyOf, rowOf, type SheetRow, type Tool } from './sheet-format.ts';

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
 * Judges calls for a tool: each becomes a conversion, or is left out for a reason. Calls may come
 * from the API or a store, in order of their time. Rules that make no sense are refused at once
 * with a `RulesError`.
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
 * const format = sheetFormats['google-ads-clicks']; await pipeline(createCallStream(client),
 * toConversions(rules, format), toSheet(format, rules), createWriteStream('clicks.csv'));
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

/**
 * Judges one call after the other. Null for a call before `rules.from`, which only says something
 * about its caller.
 */
function createOutcomes(rules: ConversionRules, tool: Tool): (call: Call) => Outcome | null {
  const judge = createJudge(tool.accepts, rules);
  const columns = tool.columns?.(rules) ?? [];
  const seen = new Set<string>();
  return (call) => {
    const found = judge(call);
    if (rules.from !== undefined && String(call.date_added) < rules.from) return null;
    if ('reason' in found) return { call, leftOut: found.reason };
    const row = rowOf(found, columns, rules);

    // A sheet must not fail because of what one visitor made of an address.
    if (row === null) return { call, leftOut: 'wrong_form' };

    // Where rows have no key, the tool would count a repeated call again.
    const key = keyOf(columns, row) ?? found.sid;
    if (seen.has(key)) return { call, leftOut: 'duplicate' };
    seen.add(key);
    return { call, conversion: found, row };
  };
}

/**
 * Judges one call after the other, for rules that compare the calls of a caller. Calls come in
 * order of their time.
 */
function createJudge(
  accepts: Acceptance,
  rules: ConversionRules,
): (call: Call) => Conversion | { readonly reason: LeftOutReason } {
  const { firstCallOnly = false, oncePerCaller } = rules;
  const once = oncePerCaller === undefined ? null : durationMillis(oncePerCaller, 'oncePerCaller');

  /** By caller, when the last call that counted was. */
  const callers = new Map<string, number | null>();
  return (call) => {
    const caller = callerOf(call);
    const key = caller === null ? null : `${call.acct_id} ${caller}`;
    const isKnown = key !== null && callers.has(key);
    const found = conversionOf(call, accepts, rules, {
      isFirstCall: key === null ? null : !isKnown,
    });
    if (key === null) return found;
    const countedAt = callers.get(key) ?? null;
    if (!isKnown) callers.set(key, null);

    // A click that is too old by now was not when the call counted.
    const counts = !('reason' in found) || found.reason === 'click_too_old';
    if (!counts) return found;
    if (firstCallOnly && isKnown) return 'reason' in found ? found : { reason: 'repeat_caller' };
    const at = parseTime(String(call.date_added))?.millis ?? 0;
    if (once !== null && countedAt !== null && Math.abs(at - countedAt) < once)
      return 'reason' in found ? found : { reason: 'caller_counted' };
    callers.set(key, at);
    return found;
  };
}
