import type { Call } from '@call-attribution/core';
import { fieldsOf } from '../conditions/condition.ts';
import { compareText } from '../conditions/fold.ts';
import { compileCondition, type Value } from '../conditions/holds.ts';
import { nameOf } from '../conditions/names.ts';
import { Facts, zoneShift } from '../fields/facts.ts';
import { planSelection, type ReadOptions } from '../question/plan.ts';
import type { CallSelection } from '../question/question.ts';
import { readOrder } from '../question/resolve.ts';

/** Chooses and orders single calls as a question would. */
export interface CallSelector {
  /** The period, as naive times: the end is not included. Null where it is open. */
  readonly period: { readonly from: number | null; readonly to: number | null };
  /** A condition follows from the other calls of a caller, which a selector that sees one call at a time does not know. */
  readonly needsSequence: boolean;
  /** Is the call selected? `other`: it would be, but for the channel that `calls` leaves out. */
  judge(call: Call, account: string): 'selected' | 'other' | 'no';
  /** What a call is sorted by, for `compare`. */
  keyOf(call: Call, account: string): readonly Value[];
  /** Compares two keys. What has no value comes last. */
  compare(a: readonly Value[], b: readonly Value[]): number;
}

/**
 * Makes a selector of calls, for lists of records. `order`: such as `talk_minutes desc`; the oldest first by default, and calls that
 * are equal by their `sid`.
 *
 * @example
 * const { judge } = selectCalls({ period: 'last month', where: "state = 'TX'" });
 * const found = calls.filter((call) => judge(call, 'main') === 'selected');
 */
export function selectCalls(
  selection: CallSelection,
  { order = 'date_added', ...read }: ReadOptions & { readonly order?: string | undefined } = {},
): CallSelector {
  const plan = planSelection(selection, read);
  const { timeZone, inZone } = plan.zones;
  const facts = new Facts(timeZone !== null && inZone !== null ? zoneShift(timeZone, inZone) : null);
  const accounts = plan.accounts === null ? null : new Set(plan.accounts);
  const readField = (field: string, of: Facts): Value => plan.fields.get(nameOf(field))?.read(of) ?? null;
  const judges = plan.conditions.map(({ condition, asSent }) =>
    compileCondition(
      condition,
      plan.fields,
      (field) => (of: Facts) => (asSent && field === 'date_added' ? of.sentAt : readField(field, of)),
    ),
  );
  const names = new Map([...plan.fields].map(([name, field]) => [nameOf(name), field.name]));
  const sorts = readOrder(order, [...new Set(names.values())], 'a call', names);
  const { from, to } = plan.period;
  const set = (call: Call, account: string): void =>
    facts.set(call as unknown as Readonly<Record<string, unknown>>, account);
  return {
    period: plan.period,
    needsSequence: [
      ...plan.conditions.flatMap(({ condition }) => [...fieldsOf(condition)]),
      ...sorts.map(({ column }) => column),
    ].some((name) => plan.fields.get(name)?.needsSequence),
    judge(call, account) {
      if (accounts !== null && !accounts.has(account)) return 'no';
      set(call, account);
      const { time, isExtension } = facts;
      if (from !== null && (time === null || time < from)) return 'no';
      if (to !== null && (time === null || time >= to)) return 'no';
      for (const judge of judges) if (judge(facts) !== true) return 'no';
      const isOther = plan.calls !== 'all' && (plan.calls === 'extensions') !== isExtension;
      return isOther ? 'other' : 'selected';
    },
    keyOf(call, account) {
      set(call, account);
      return [...sorts.map(({ column }) => readField(column, facts)), account, String(call.sid)];
    },
    compare(a, b) {
      for (let i = 0; i < a.length; i += 1) {
        const [x, y] = [a[i] ?? null, b[i] ?? null];
        if (x === y) continue;
        if (x === null) return 1;
        if (y === null) return -1;
        const found =
          typeof x === 'string' && typeof y === 'string' ? compareText(x, y) : Number(x) - Number(y);
        if (found !== 0) return sorts[i]?.descending ? -found : found;
      }
      return 0;
    },
  };
}
