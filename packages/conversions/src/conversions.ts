import { type Call, callerOf } from '@call-attribution/core/record';
import { durationMillis, parseTime } from '@call-attribution/core/time';
import { defineOperator, type Operator } from '@call-attribution/node-stream/operators';
import { type CallChange, changesOf } from './changes.ts';
import { checkRules, RulesError } from './check-rules.ts';
import {
  type Acceptance,
  type Conversion,
  type ConversionRules,
  type Judged,
  judgeCall,
} from './conversion.ts';
import type { LedgerEntry } from './entry.ts';
import { createOutcomeJudge, isOfOutcome } from './outcomes.ts';
import { type RulesRead, readRules } from './rules-read.ts';
import { keyOf, rowOf, type Tool } from './sheet-format.ts';

/** What the ledger says of each conversion that a tool has, by its key. */
export type Delivered = ReadonlyMap<string, LedgerEntry>;

/** The time of the newest row of outcomes of which nothing was sent, by their key. */
export type Seen = ReadonlyMap<string, number>;

/**
 * Judges calls for a tool: what each of them changes of what the tool has. Without `delivered` it
 * has nothing, and each call is a new conversion or left out for a reason. Calls may come from the
 * API or a store, in order of their time. Rules that make no sense are refused at once with a
 * `RulesError`.
 *
 * @param delivered what the tool has, as `ledger.delivered(destination)` says it.
 * @param seen what was read of outcomes and not sent, as `ledger.seen(destination)` says it.
 * @example
 * for await (const { kind, call, conversion, why } of conversions(createCallStream(client), rules, sheetFormats.sa360))
 *   console.log(call?.sid, kind, conversion?.value ?? why);
 */
export function conversions(
  calls: AsyncIterable<Call> | Iterable<Call>,
  rules: ConversionRules,
  tool: Tool,
  delivered?: Delivered,
  seen?: Seen,
): AsyncIterable<CallChange> {
  return toConversions(rules, tool, delivered, seen)(calls);
}

/**
 * `conversions` as an operator, for `pipeline` and `through`.
 *
 * @example
 * const format = sheetFormats['google-ads-clicks']; await pipeline(createCallStream(client),
 * toConversions(rules, format), toSheet(format, rules), createWriteStream('clicks.csv'));
 */
export function toConversions(
  rules: ConversionRules,
  tool: Tool,
  delivered: Delivered = new Map(),
  seen: Seen = new Map(),
): Operator<Call, CallChange> {
  checkRules(rules, tool);
  refuseMixed(rules, delivered);
  return defineOperator<Call, CallChange>({
    name: 'toConversions',
    gives: 'other',
    unsaved: 'the judge of conversions remembers callers, and cannot be saved',
    begin() {
      const read = readRules(rules);
      const check = createRowCheck(tool, rules);
      if (rules.outcomes !== undefined) {
        const { page, changes } = createOutcomeJudge(
          rules.outcomes,
          read,
          tool,
          { delivered, seen },
          check,
        );
        return {
          page(calls) {
            page(calls);
            return [];
          },
          end: changes,
        };
      }

      const judge = createJudge(tool.accepts, read);
      const { from = '' } = rules;
      const { findsBy } = tool.accepts;

      const changesOfCall = (call: Call): CallChange[] => {
        const found = judge(call);

        // It was only read for what it says about its caller.
        if (String(call.date_added) < from) return [];
        const judged = 'reason' in found ? found : check(found);
        const key = 'reason' in judged ? String(call.sid) : judged.key;
        const changes = changesOf(judged, delivered.get(key) ?? null, findsBy);
        return changes.map((change) => ({ ...change, call, outcome: null, seen: null }));
      };

      if (!read.needsCallers) return { page: (calls) => calls.flatMap(changesOfCall) };

      // What a call is among those of its caller is known when all are there.
      const kept: Call[] = [];
      return {
        page(calls) {
          for (const call of calls) read.learn(call);
          kept.push(...calls);
          return [];
        },
        end: () => kept.splice(0).flatMap(changesOfCall),
      };
    },
  });
}

/** A call and what it became would count as two conversions under one name. */
function refuseMixed({ outcomes, conversionName }: ConversionRules, delivered: Delivered): void {
  const other = [...delivered.values()].find(
    (entry) => isOfOutcome(entry) !== (outcomes !== undefined),
  );
  if (other === undefined) return;
  const [got, given] = isOfOutcome(other) ? ['outcomes', 'calls'] : ['calls', 'outcomes'];
  throw new RulesError(
    'conversionName',
    `the conversion ${JSON.stringify(conversionName)} has got ${got} already: give ${given} a conversion of their own, else one call would count twice`,
  );
}

/** Leaves out conversions whose row the tool would refuse, and those that repeat a row. */
function createRowCheck(tool: Tool, rules: ConversionRules): (found: Conversion) => Judged {
  const columns = tool.columns?.(rules) ?? [];
  const seen = new Set<string>();
  return (found) => {
    const row = rowOf(found, columns, rules);

    // A sheet must not fail because of what one visitor made of an address.
    if (row === null) return { reason: 'wrong_form' };

    // Where rows have no key, the tool would count a repeated call again.
    const key = keyOf(columns, row) ?? found.key;
    if (seen.has(key)) return { reason: 'duplicate' };
    seen.add(key);
    return found;
  };
}

/**
 * Judges one call after the other, for rules that compare the calls of a caller. Calls come in
 * order of their time.
 */
function createJudge(
  accepts: Acceptance,
  read: RulesRead<ConversionRules>,
): (call: Call) => Judged {
  const { firstCallOnly = false, oncePerCaller } = read.rules;
  const once = oncePerCaller === undefined ? null : durationMillis(oncePerCaller, 'oncePerCaller');

  /** By caller, when the last call that counted was. */
  const callers = new Map<string, number | null>();
  return (call) => {
    const caller = callerOf(call);
    const key = caller === null ? null : `${call.acct_id} ${caller}`;
    const isKnown = key !== null && callers.has(key);
    const found = judgeCall(call, accepts, read, {
      isFirstCall: key === null ? null : !isKnown,
    });

    // What is excluded says nothing about its caller either.
    if (key === null || ('reason' in found && found.reason === 'excluded')) return found;
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
