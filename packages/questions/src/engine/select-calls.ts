import type { Call } from '@call-attribution/core';
import { isIn } from '@call-attribution/core/time';
import { compareValues, type Value } from '../conditions/condition.ts';
import { Batch, readLists } from '../fields/batch.ts';
import { Numbering } from '../fields/numbering.ts';
import { type Plan, readPlan } from '../question/plan.ts';
import type { AnswerOptions } from './answer-question.ts';
import { excludedBy, isOfOtherChannel, judgesOf, shiftOf } from './count.ts';
import { memoryOf, usualMemory } from './parts.ts';
import { columnsOf, Records } from './records.ts';
import { KeptCalls } from './sequences.ts';

/** Chooses and orders single calls as a question would. */
export interface CallSelector {
  /** The fields of a record that it looks at. */
  readonly fields: readonly string[];
  /**
   * Looks at a call that a sequence may depend on. Only needed where the plan depends on other
   * calls of a caller: then it has to see all of them first.
   */
  learn(call: Call, account: string): void;
  /**
   * Is the call selected? `other`: it would be, but for the channel that `calls` leaves out;
   * `excluded`: but for `exclude`.
   */
  judge(call: Call, account: string): 'selected' | 'other' | 'excluded' | 'no';
  /** What a call is sorted by, for `compare`. */
  keyOf(call: Call, account: string): readonly Value[];
  /** Compares two keys. What has no value comes last. */
  compare(a: readonly Value[], b: readonly Value[]): number;
}

/**
 * Makes a selector of calls, for lists of records. Calls that are equal in the order of the plan
 * are in that of their `sid`.
 *
 * @example
 * const { judge } = selectCalls(planCalls({ period: 'last month', where: "state = 'TX'" }));
 * const found = calls.filter((call) => judge(call, 'main') === 'selected');
 */
export function selectCalls(
  of: Plan,
  { namesOf = () => [] }: Pick<AnswerOptions, 'namesOf'> = {},
): CallSelector {
  const plan = readPlan(of);
  const judges = judgesOf(plan, namesOf);
  const isExcluded = excludedBy(plan, namesOf);
  const isSequence = plan.otherCalls !== 'none';
  const fields = [...new Set(plan.needs.flatMap((need) => need.fields))];
  const numbers = new Numbering();
  const shift = shiftOf(plan.zones);
  const kept = new KeptCalls([plan], memoryOf(usualMemory));
  const learned = new Records(fields, (columns, account) =>
    kept.add(readLists(columns, account, numbers)),
  );
  let places: ReturnType<typeof placesOf> | null = null;

  const callOf = (record: Call, account: string): Batch => {
    const lists = readLists(columnsOf([record], fields), account, numbers);
    if (!isSequence) return new Batch(lists, shift);
    learned.flush();
    places ??= placesOf(kept);
    const place = places.get(idOf(account, record.sid));
    if (place !== undefined) place.calls.at = place.at;
    return new Batch(lists, shift, () => place?.calls.sequences ?? null);
  };

  return {
    fields: ['sid', 'channel', ...fields.filter((name) => name !== 'is_extension')],
    learn(record, account) {
      if (!isSequence) return;
      learned.add(record, account);
      places = null;
    },
    judge(record, account) {
      const call = callOf(record, account);
      if (!isIn(plan.period, call.time) || !judges.every((judge) => judge(call) === true))
        return 'no';

      if (isOfOtherChannel(plan, call)) return 'other';
      return isExcluded(call) === true ? 'excluded' : 'selected';
    },
    keyOf(record, account) {
      const call = callOf(record, account);
      return [...plan.groups.map(({ read }) => read(call)), account, String(record.sid)];
    },
    compare(a, b) {
      for (let i = 0; i < a.length; i += 1) {
        const order = compareValues(a[i] ?? null, b[i] ?? null, plan.order[i]?.descending);
        if (order !== 0) return order;
      }
      return 0;
    },
  };
}

const idOf = (account: string, sid: unknown): string => `${account} ${String(sid)}`;

/** Where each call is among all calls of its account. */
function placesOf(
  kept: KeptCalls,
): ReadonlyMap<string, { readonly calls: Batch; readonly at: number }> {
  const places = new Map<string, { readonly calls: Batch; readonly at: number }>();
  for (const { calls: all, sequenceOf } of kept.accounts()) {
    const calls = new Batch(all, null, (batch) => sequenceOf(batch, null));
    for (const [at, sid] of (all.columns.sid ?? []).entries())
      places.set(idOf(all.account, sid), { calls, at });
  }

  return places;
}
