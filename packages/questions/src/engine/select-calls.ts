import type { Call } from '@call-attribution/core';
import { compareText } from '../conditions/fold.ts';
import type { Value } from '../conditions/holds.ts';
import { nameOf } from '../conditions/names.ts';
import type { Facts, Sequence } from '../fields/facts.ts';
import { needsSequence, planSelection, type ReadOptions } from '../question/plan.ts';
import type { CallSelection } from '../question/question.ts';
import { readOrder } from '../question/resolve.ts';
import { factsOf } from './answer-question.ts';
import { recordOf } from './calls.ts';
import { judgesOf, within } from './count.ts';
import { Memory, usualMemory } from './parts.ts';
import { KeptCalls, neededFields } from './sequences.ts';

/** Chooses and orders single calls as a question would. */
export interface CallSelector {
  /** The period, as naive times: the end is not included. Null where it is open. */
  readonly period: { readonly from: number | null; readonly to: number | null };
  /** A condition or the order follows from the other calls of a caller: `learn` has to see all calls of the accounts first. */
  readonly needsSequence: boolean;
  /** The fields of a record that it looks at. */
  readonly fields: readonly string[];
  /** Looks at a call that a sequence may depend on. Only needed where `needsSequence` is set. */
  learn(call: Call, account: string): void;
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
  const facts = factsOf(plan);
  const accounts = plan.accounts === null ? null : new Set(plan.accounts);
  const readField = (field: string, of: Facts): Value => plan.fields.get(nameOf(field))?.read(of) ?? null;
  /** Days of the week are sorted as they follow each other. */
  const readPlace = (field: string, of: Facts): Value => {
    const { isOrdered, values = [] } = plan.fields.get(nameOf(field)) ?? {};
    const value = readField(field, of);
    return isOrdered && typeof value === 'string' ? values.indexOf(value) : value;
  };
  const judges = judgesOf(plan);
  const names = new Map([...plan.fields].map(([name, field]) => [nameOf(name), field.name]));
  const sorts = readOrder(order, [...new Set(names.values())], 'a call', names);
  const groups = sorts.flatMap(({ column }) => plan.fields.get(nameOf(column)) ?? []);
  const needs = { ...plan, groups, parts: [] };
  const isSequence = needsSequence(needs);
  const kept = new KeptCalls(needs, new Memory(usualMemory));
  let places: ReadonlyMap<string, Sequence | null> | null = null;
  const set = (call: Call, account: string): void => {
    facts.set(recordOf(call), account);
    if (!isSequence) return;
    places ??= placesOf(kept);
    facts.sequence = places.get(idOf(account, call.sid)) ?? null;
  };
  return {
    period: plan.period,
    needsSequence: isSequence,
    fields: ['sid', ...neededFields(needs)],
    learn(call, account) {
      if (!isSequence) return;
      facts.set(recordOf(call), account);
      kept.add(facts, String(call.sid));
      places = null;
    },
    judge(call, account) {
      if (accounts !== null && !accounts.has(account)) return 'no';
      set(call, account);
      const { time, isExtension } = facts;
      if (!within(time, plan.period)) return 'no';
      for (const judge of judges) if (judge(facts) !== true) return 'no';
      const isOther = plan.calls !== 'all' && (plan.calls === 'extensions') !== isExtension;
      return isOther ? 'other' : 'selected';
    },
    keyOf(call, account) {
      set(call, account);
      return [...sorts.map(({ column }) => readPlace(column, facts)), account, String(call.sid)];
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

const idOf = (account: string, sid: unknown): string => `${account} ${String(sid)}`;

function placesOf(kept: KeptCalls): ReadonlyMap<string, Sequence | null> {
  const places = new Map<string, Sequence | null>();
  const facts = factsOf(undefined);
  kept.each(facts, (sid) => places.set(idOf(facts.account, sid), facts.sequence && { ...facts.sequence }));
  return places;
}
